package resolve

import (
	"fmt"
	"slices"

	"github.com/idemgen/idemgen/generator/model"
	"github.com/idemgen/idemgen/generator/resolve/draft"
	"github.com/idemgen/idemgen/generator/resolve/typeword"
	"github.com/idemgen/idemgen/generator/resolve/wording"
	"github.com/idemgen/idemgen/schema"
)

// resolveLock reads lock of an event. Its effect must be resolved.
func (r *topicReader) resolveLock(e *draft.Event) {
	spec, effect := e.Spec.Lock, e.Model.Effect
	if spec == nil {
		return
	}
	e.Unsure = e.Unsure || spec.Broken
	lock := &model.Lock{Lease: effectLease, By: r.lockFields(e)}
	switch handled := e.Spec.Handle != nil && e.Spec.Handle.Value; {
	case effect == nil && !handled:
		if spec.Name != nil || spec.By != nil { // else what is there is refused as it is
			r.report.Add(spec.Key, "E814", e.Is()+" has a lock, and no Go code that would run under it",
				"steps are one transaction, which needs none; code that others must not run beside is handle: true, or effect: {if_interrupted: retry}")
		}
		return
	case effect != nil:
		lock.Lease, lock.Redis = effect.Lease, effect.Redis
		r.lockOfEffect(e)
	default:
		if spec.Lease != nil {
			lock.Lease = spec.Lease.Value
		}
		lock.Redis = spec.Store != nil && spec.Store.Value == "redis"
	}
	if spec.Name != nil {
		lock.Name = spec.Name.Value
		e.Model.Lock = lock
	}
}

// lockOfEffect refuses what a lock cannot have whose event has an effect: it is where the effect
// has its leases, and lasts as long.
func (r *topicReader) lockOfEffect(e *draft.Event) {
	lock, effect := e.Spec.Lock, e.Spec.Effect
	if lock.Lease != nil {
		r.report.Add(lock.Lease.Key, "E814", e.Is()+" has an effect, whose lease is that of the lock", "write lease under effect")
	}
	if lock.Store != nil {
		r.report.Add(lock.Store.Key, "E814", e.Is()+" has an effect, whose store is that of the lock", "write store under effect")
	}
	if e.Model.Effect.UsePostgres {
		r.report.Add(effect.IfStoreDown.Key, "E814", e.Is()+" has a lock, which some would hold in Redis then, and others in Postgres",
			"drop if_store_down: events wait until Redis answers")
	}
}

// lockFields resolves the fields that tell what is locked.
func (r *topicReader) lockFields(e *draft.Event) (by []*model.Field) {
	if e.Spec.Lock.By == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, at := range e.Spec.Lock.By.Items {
		if seen[at.Value] {
			r.report.Add(at.Pos, "E107", "field "+wording.Quote(at.Value)+" appears twice in by", "one is enough")
		}
		seen[at.Value] = true
		if f := use(r.report, e, at, fieldOnly); f != nil && checkLockField(r.report, f, at) {
			by = append(by, f)
		}
	}
	return by
}

// checkLockField refuses fields that do not tell what is locked (E813).
func checkLockField(report *schema.Diagnostics, f *model.Field, at schema.Text) bool {
	name := wording.Quote(f.Name)
	const another = " or choose another field"
	switch {
	case f.Patch:
		report.Add(at.Pos, "E813", "field "+name+" may be missing, so that nothing would be locked", `drop "patch"`+another)
	case f.Type.Optional:
		report.Add(at.Pos, "E813", "field "+name+" may be missing, so that nothing would be locked", `drop "optional"`+another)
	case f.Default != nil:
		report.Add(at.Pos, "E813", "field "+name+" has a default, so all events without it would wait for one another", `drop "default"`+another)
	case ofRecord(f):
		report.Add(at.Pos, "E813", fmt.Sprintf("field %s is the record's %s, which no other event shares", name, f.Source.Record), "name what is locked")
	case !slices.Contains([]model.Kind{model.String, model.Enum, model.UUID, model.Int32, model.Int64}, f.Type.Kind):
		report.Add(at.Pos, "E813", fmt.Sprintf("%s field cannot tell what is locked: %s", withArticle(typeword.Text(f.Type)), name), "texts, enums, uuids and whole numbers can")
	default:
		return true
	}
	return false
}
