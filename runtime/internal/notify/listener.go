package notify

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"sync/atomic"

	"github.com/idemgen/idemgen/runtime/hook"
	"github.com/idemgen/idemgen/runtime/internal/watchdog"
)

// listener is a hook that implements T, an interface of package hook.
type listener[T any] struct {
	hook     T
	method   string
	log      *slog.Logger
	reported atomic.Bool
}

// call calls the hook and recovers a panic, because the batch does not depend on the hook.
func (l *listener[T]) call(f func(T)) {
	defer func() {
		if r := recover(); r != nil {
			l.report("a hook panicked", "panic", watchdog.PanicText(r), "stack", string(debug.Stack()))
		}
	}()
	f(l.hook)
}

// report logs the first mistake of the hook's method.
func (l *listener[T]) report(text string, args ...any) {
	if l.reported.CompareAndSwap(false, true) {
		l.log.Error(text, append([]any{"hook", fmt.Sprintf("%T", l.hook), "method", l.method}, args...)...)
	}
}

// add adds a hook to those of each kind that it implements.
func (h *Hooks) add(log *slog.Logger, g hook.Hook) error {
	v := reflect.ValueOf(g)
	switch v.Kind() {
	case reflect.Invalid:
		return errors.New("a hook is nil")
	case reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan:
		if v.IsNil() {
			return fmt.Errorf("a hook of type %T is nil", g)
		}
	default: // a pointer also has the methods of its value
		v = reflect.New(v.Type())
	}
	s := &sorting{hook: g, pointer: v.Interface(), log: log}
	// The linker keeps methods with these names. If a name were not a constant, it would keep all
	// methods of the program.
	keep(s, &h.batchStart, v.MethodByName("OnBatchStart"))
	keep(s, &h.batchEnd, v.MethodByName("OnBatchEnd"))
	keep(s, &h.events, v.MethodByName("OnEvents"))
	keep(s, &h.deadLetter, v.MethodByName("OnDeadLetter"))
	keep(s, &h.state, v.MethodByName("OnState"))
	keep(s, &h.takeOver, v.MethodByName("OnTakeOver"))
	keep(s, &h.retry, v.MethodByName("OnRetry"))
	keep(s, &h.callStart, v.MethodByName("OnCallStart"))
	keep(s, &h.call, v.MethodByName("OnCall"))
	keep(s, &h.upkeep, v.MethodByName("OnUpkeep"))
	if s.err == nil && !s.asks {
		return fmt.Errorf("a hook of type %T has none of the methods of package hook: see its interfaces", g)
	}
	return s.err
}

// sorting is the state of add.
type sorting struct {
	hook    hook.Hook
	pointer any // to a value of the hook's type, or the hook
	log     *slog.Logger
	asks    bool
	err     error
}

// keep adds a hook to those of a kind, if it is of that kind. It is an error if the hook has a
// method with the kind's name that would never be called.
func keep[T any](s *sorting, kind *[]*listener[T], method reflect.Value) {
	of := reflect.TypeFor[T]()
	name := "On" + of.Name()
	if k, ok := s.hook.(T); ok {
		*kind = append(*kind, &listener[T]{hook: k, method: name, log: s.log})
		s.asks = true
	} else if _, ok := s.pointer.(T); ok {
		s.err = fmt.Errorf("a hook of type %T is passed by value, but %s is a method of its pointer: pass a pointer", s.hook, name)
	} else if method.IsValid() {
		s.err = fmt.Errorf("a hook of type %T has method %s of type %v: %v has it with another signature", s.hook, name, method.Type(), of)
	}
}
