package rollout

import (
	"context"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// defaultParallel is how many requests of a run are under way at once.
const defaultParallel = 16

// Engine applies objects under one field manager. It is safe for concurrent use.
type Engine struct {
	// Client writes. Its scheme knows which fields the kinds of Kubernetes have.
	Client client.Client
	// Reader reads live objects with their managed fields; nil is Client. It must not lag behind: a cache may not be used.
	Reader client.Reader
	// FieldManager is the name under which fields are owned.
	FieldManager string
	// Parallel bounds the requests of a run that are under way at once; 0 is 16.
	Parallel int
}

// Apply brings the objects of the phases about, as far as it gets, and says for each how far that is. Phases and objects of the
// result are in the order of the argument.
func (e *Engine) Apply(ctx context.Context, phases []Phase) *Result {
	r := newRun(e, phases)
	r.each(r.tasks, func(t *task) { t.observe(ctx) })
	if stopped, _ := held(r.tasks); stopped {
		return r.result()
	}
	for i := range r.phases {
		p := &r.phases[i]
		r.each(p.tasks, func(t *task) { // Bring the object about.
			for attempt := 1; ; attempt++ {
				if !t.ready(ctx, attempt) {
					return
				}
				verb, outcome, err := t.attempt(ctx)
				if err == nil {
					t.result.Outcome, t.result.Live = outcome, t.live
					t.result.Waiting = t.probe(t.live)
					u := t.live
					t.owners.Store(ownerKey{u.GroupVersionKind().GroupKind(), u.GetNamespace(), u.GetName()}, u.GetUID())
					return
				}
				t.exists = t.exists || apierrors.IsAlreadyExists(err)
				overtaken := apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) || apierrors.IsNotFound(err) && !servesNot(err) && t.live != nil
				if !overtaken || t.Policy == Remove || attempt == attempts {
					t.fail(verb, err)
					return
				}
			}
		})
		if p.barrier {
			r.each(p.tasks, func(t *task) { t.recheck(ctx) })
		}
		if stopped, waiting := held(p.tasks); !p.independent && stopped || p.barrier && waiting {
			break
		}
	}
	r.each(r.tasks, func(t *task) { t.recheck(ctx) })
	return r.result()
}

// Look reads the objects of the phases and asks the rules for them, as Apply does before it writes, and writes nothing. It reports whether
// Apply would go on to write.
func (e *Engine) Look(ctx context.Context, phases []Phase) (result *Result, goesOn bool) {
	r := newRun(e, phases)
	r.each(r.tasks, func(t *task) { t.observe(ctx) })
	stopped, _ := held(r.tasks)
	return r.result(), !stopped
}

// run is the state of one call.
type run struct {
	engine *Engine
	reader client.Reader
	phases []phaseRun
	tasks  []*task  // of all phases
	owners sync.Map // the UIDs of objects, by their ownerKey
	slots  chan struct{}
}

type phaseRun struct {
	name                 string
	barrier, independent bool
	tasks                []*task
}

// task is one object of a run.
type task struct {
	*run
	Object
	client client.Client
	observation
	result ObjectResult
	exists bool // a create has found the object, although the caller had not
}

func newRun(e *Engine, phases []Phase) *run {
	parallel := e.Parallel
	if parallel <= 0 {
		parallel = defaultParallel
	}
	r := &run{engine: e, reader: e.Reader, slots: make(chan struct{}, parallel), phases: make([]phaseRun, len(phases))}
	if r.reader == nil {
		r.reader = e.Client
	}
	for i, p := range phases {
		writer := p.Client
		if writer == nil {
			writer = e.Client
		}
		r.phases[i] = phaseRun{name: p.Name, barrier: p.Barrier, independent: p.Independent}
		for _, o := range p.Objects {
			t := &task{run: r, Object: o, client: writer, result: ObjectResult{Ref: RefOf(o.Wanted)}}
			r.phases[i].tasks = append(r.phases[i].tasks, t)
		}
		r.tasks = append(r.tasks, r.phases[i].tasks...)
	}
	return r
}

// each calls f for every task, some at a time, and waits for all.
func (r *run) each(tasks []*task, f func(*task)) {
	var group sync.WaitGroup
	for _, t := range tasks {
		r.slots <- struct{}{}
		group.Go(func() {
			defer func() { <-r.slots }()
			f(t)
		})
	}
	group.Wait()
}

// held reports whether an object keeps the run from going on, and whether one lacks something that others have to wait for.
func held(tasks []*task) (stopped, waiting bool) {
	for _, t := range tasks {
		if !t.Optional {
			stopped = stopped || t.blocked || t.result.Err != nil
			waiting = waiting || t.result.Waiting != ""
		}
	}
	return stopped, waiting
}

func (r *run) result() *Result {
	out := &Result{Phases: make([]PhaseResult, len(r.phases))}
	for i, p := range r.phases {
		out.Phases[i] = PhaseResult{Name: p.name, Objects: make([]ObjectResult, len(p.tasks))}
		for j, t := range p.tasks {
			out.Phases[i].Objects[j] = t.result
		}
	}
	return out
}
