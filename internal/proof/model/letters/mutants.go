package letters

// Bug is a mistake planted into the model.
type Bug uint8

// The planted bugs.
const (
	NoBug Bug = iota
	OvertakesTheWaiting
	LetterClaims
	SettlesOutsideTheChain
	SettlesUnasserted
	MemoryStaysBehind
	MemoryMovesWhenSent
	LoadedBeforeFence
	LastGoesOnFirst
	UpkeepClosesParking
	RefusedWaits
)

// Mutant is the model with one mistake.
type Mutant struct {
	Name   string
	Rules  Rules
	Left   Faults
	Caught string // the violation that shows it
}

const (
	memory   = "a memory is not what the chain says"
	overtook = "a record overtook one of its record key"
)

// Mutants are mistakes. The model must catch each of them.
func Mutants() []Mutant {
	one, two := [records]bool{byOffset: true}, [records]bool{byOffset: true, first: true}
	other := [records]bool{apart: true}
	return []Mutant{
		{"a record overtakes those that wait once nothing is dead", Rules{one, OvertakesTheWaiting}, Faults{Request: 1}, overtook},
		{"a letter claims its key", Rules{one, LetterClaims}, Faults{Request: 1}, "a record was lost"},
		{"a letter is settled without a row of the chain", Rules{one, SettlesOutsideTheChain}, Faults{Request: 1, Move: 1}, memory},
		{"a letter is settled in whatever state it is", Rules{other, SettlesUnasserted}, Faults{Request: 1, Close: 1}, "a settled letter was settled again"},
		{"the memory does not hear of what was settled", Rules{one, MemoryStaysBehind}, Faults{Request: 1}, memory},
		{"the memory moves when a transaction is sent", Rules{one, MemoryMovesWhenSent}, Faults{Loss: 1}, memory},
		{"what is parked is loaded before the fence", Rules{one, LoadedBeforeFence}, Faults{Move: 1}, memory},
		{"the last one that waits goes on first", Rules{one, LastGoesOnFirst}, Faults{Request: 1}, overtook},
		{"the upkeep closes a letter that others wait behind", Rules{one, UpkeepClosesParking}, Faults{Close: 1}, memory},
		{"a record that waited and is refused goes on waiting", Rules{two, RefusedWaits}, Faults{Request: 1}, "without further faults a record or a request is never done"},
	}
}
