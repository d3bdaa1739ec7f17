package clusterserviceversion

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/rollout"
	"fairlead.dev/fairlead/internal/tenancy"
)

// snapshot is what a pass has observed since the last action that changed it. Each value is read when a row of the table first needs it.
type snapshot struct {
	*observer
	limits   limits
	done     effect // of all actions of the pass
	due      *due
	findings map[observation]finding
	// judged is the health of Deployments, by their names.
	judged map[string]rollout.Health
	how    map[observation]observe
	// tryOut makes changes as an install does, without an effect.
	tryOut func(context.Context, *snapshot, []change) error

	groupsRead       memo[membership]
	chainRead        memo[*chain]
	verdictRead      memo[tenancy.Verdict]
	requirementsRead memo[*requirements]
	liveRead         memo[deployments]
	certificatesRead memo[certificates]
	workloadRead     memo[*workload]
	hooksRead        memo[*hooks]
}

// effect is what an action has changed. The zero value is nothing.
type effect struct {
	// csv is the ClusterServiceVersion with the metadata that was written; nil when none was.
	csv *v1alpha1.ClusterServiceVersion
	// refusedMarks is why the cluster refused the finalizer, labels and annotations.
	refusedMarks error
	// attempted is whether an install was tried, failure why it failed, and began whether it began a rollout of a Deployment.
	attempted, began bool
	failure          error
	// applied are the Deployments as the cluster answered: the caches may not show them yet.
	applied deployments
	// certificates are those that were changed; nil is none. issued is whether pods got another one.
	certificates certificates
	issued       bool
	// corrected is whether drift was corrected, withdrawn whether permissions were removed.
	corrected, withdrawn bool
	// hooked is whether webhooks were registered, hookFailure why that failed.
	hooked      bool
	hookFailure error
	// retry is a failure after which the pass is to be repeated.
	retry error
}

// due is when a pass is to be repeated without an event.
type due struct {
	// unwatched is whether the CSV waits for something whose change no event announces, such as a newer cluster.
	unwatched bool
	at        time.Time
	retry     error
}

func (d *due) by(at time.Time) {
	if !at.IsZero() && (d.at.IsZero() || at.Before(d.at)) {
		d.at = at
	}
}

// memo is a value that is read once.
type memo[T any] struct {
	known bool
	value T
}

func (m *memo[T]) get(read func() (T, error)) (T, error) {
	if m.known {
		return m.value, nil
	}
	value, err := read()
	if err == nil {
		m.known, m.value = true, value
	}
	return value, err
}

// look makes an observation, once between two actions.
func (s *snapshot) look(ctx context.Context, o observation) (finding, error) {
	if known, ok := s.findings[o]; ok {
		return known, nil
	}
	found, err := s.how[o](ctx, s)
	if err != nil {
		return seenNot, fmt.Errorf("find out about ClusterServiceVersion %s (%s): %w", s.name(), o, err)
	}
	s.findings[o] = found
	return found, nil
}

// after is the snapshot after an action: without what the action has changed, and with what it returned.
func (s *snapshot) after(e effect) *snapshot {
	next := *s
	next.findings, next.judged = map[observation]finding{}, map[string]rollout.Health{}
	d := &next.done
	if e.csv != nil {
		next.observer = s.of(e.csv)
		d.csv = e.csv
		next.chainRead, next.workloadRead, next.hooksRead = memo[*chain]{}, memo[*workload]{}, memo[*hooks]{}
	}
	if e.attempted {
		d.attempted, d.failure = true, e.failure
		d.began = d.began || e.began
	}
	if e.applied != nil {
		d.applied = maps.Clone(d.applied)
		if d.applied == nil {
			d.applied = deployments{}
		}
		maps.Copy(d.applied, e.applied)
		next.liveRead = memo[deployments]{}
	}
	if e.certificates != nil {
		next.certificatesRead = memo[certificates]{true, e.certificates}
		next.hooksRead = memo[*hooks]{}
	}
	if e.certificates != nil || e.applied != nil || e.withdrawn {
		next.workloadRead = memo[*workload]{}
	}
	if e.refusedMarks != nil {
		d.refusedMarks = e.refusedMarks
	}
	if e.hooked {
		d.hooked, d.hookFailure = true, e.hookFailure
	}
	d.issued = d.issued || e.issued
	d.corrected = d.corrected || e.corrected
	d.withdrawn = d.withdrawn || e.withdrawn
	s.due.retry = errors.Join(s.due.retry, e.retry)
	return &next
}

func (s *snapshot) groups(ctx context.Context) (membership, error) {
	return s.groupsRead.get(func() (membership, error) { return s.observer.membership(ctx) })
}

func (s *snapshot) requirements(ctx context.Context) (*requirements, error) {
	return s.requirementsRead.get(func() (*requirements, error) {
		chain, err := s.chain(ctx)
		if err != nil {
			return nil, err
		}
		e, err := s.evidence(ctx)
		if err != nil {
			return nil, err
		}
		out, err := e.check(ctx, chain, s.clock.Now())
		if err == nil {
			s.due.unwatched = s.due.unwatched || out.unwatched
			s.due.by(out.again)
		}
		return out, err
	})
}

func (s *snapshot) certificates(ctx context.Context) (certificates, error) {
	return s.certificatesRead.get(func() (certificates, error) {
		chain, err := s.chain(ctx)
		if err != nil {
			return nil, err
		}
		return s.observer.certificates(ctx, chain)
	})
}

func (s *snapshot) workload(ctx context.Context) (*workload, error) {
	return s.workloadRead.get(func() (*workload, error) {
		groups, err1 := s.groups(ctx)
		chain, err2 := s.chain(ctx)
		certificates, err3 := s.certificates(ctx)
		live, err4 := s.deployments(ctx)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return nil, err
		}
		out, err := composer{s.observer, groups, chain, certificates, live}.workload(ctx)
		if err == nil {
			s.due.retry = errors.Join(s.due.retry, out.unanswered)
		}
		return out, err
	})
}

func (s *snapshot) hooks(ctx context.Context) (*hooks, error) {
	return s.hooksRead.get(func() (*hooks, error) {
		groups, err1 := s.groups(ctx)
		certificates, err2 := s.certificates(ctx)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return s.observer.hooks(ctx, groups, certificates)
	})
}

// changes compares the objects of the strategy with what there is, in the order in which the differences are to be removed.
func (s *snapshot) changes(ctx context.Context) ([]change, error) {
	w, err := s.workload(ctx)
	if err != nil {
		return nil, err
	}
	out, err := s.drift(ctx, w.permissions)
	if err != nil {
		return nil, err
	}
	for _, object := range w.surplus {
		out = append(out, change{remove: object, byManager: true})
	}
	// Webhooks that go are not asked from now on: the pods that are rolled out next do not answer.
	hooks, err := s.hooks(ctx)
	if err != nil {
		return nil, err
	}
	for _, object := range hooks.surplus {
		out = append(out, change{remove: object})
	}
	certificates, err := s.certificates(ctx)
	if err != nil {
		return nil, err
	}
	adopted, err := certificates.changes(s.csv)
	if err != nil {
		return nil, err
	}
	// What the install itself makes, in the order in which it is applied.
	desired := slices.Clone(w.serving)
	for _, d := range w.deployments {
		desired = append(desired, d)
	}
	installed, err := s.drift(ctx, append(desired, w.apiServices...))
	if err != nil {
		return nil, err
	}
	out = append(append(out, adopted...), installed...)
	for _, object := range w.old {
		out = append(out, change{remove: object})
	}
	return out, nil
}

// health judges the Deployment of a desired one, as it is now, once between two actions. An operator that has succeeded, and one that is being replaced, was
// stable before.
func (s *snapshot) health(ctx context.Context, live deployments) func(*appsv1.Deployment) rollout.Health {
	at := s.csv.Status
	judge := rollout.Judge{Reader: s.live, Clock: s.clock, StableAfter: s.limits.stable, Again: s.due.by,
		Proven: at.Phase == toSucceeded || at.Phase == toReplacing, Doubtful: at.Phase == toFailed && at.Reason == v1alpha1.CSVReasonInstallCheckFailed}
	return func(desired *appsv1.Deployment) rollout.Health {
		known, ok := s.judged[desired.Name]
		if !ok {
			known = judge.Deployment(ctx, desired, live[desired.Name])
			s.judged[desired.Name] = known
		}
		return known
	}
}
