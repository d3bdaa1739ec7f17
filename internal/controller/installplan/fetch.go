package installplan

import (
	"context"
	"fmt"
	"strings"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/messages"
	"fairlead.dev/fairlead/internal/resolution"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// patience is how long a pass waits for bundles that may be at hand; slower ones arrive as an event.
	patience = 500 * time.Millisecond
	// retrySecrets is when what a request for a bundle needs is read again.
	retrySecrets = 10 * time.Second
)

// fetched are the bundles of choices, or why they are not all there.
type fetched struct {
	states  []bundleio.State
	lookups []v1alpha1.BundleLookup
	problem string
	retry   time.Duration // when to look again if nothing happens before; 0 is not at all
}

// fetchAll asks for the bundles of all choices. They arrive in the background.
func (c resolver) fetchAll(ctx context.Context, s *survey, choices []resolution.Choice) fetched {
	f := fetched{states: make([]bundleio.State, len(choices))}
	requests := make([]bundleio.Request, len(choices))
	var policy bundleio.Policy
	var invalid error // the policy: no Secret is read for it
	if len(s.Groups) == 1 {
		policy, invalid = bundleio.PolicyOf(s.Groups[0].Annotations)
	}
	for i, choice := range choices { // start all of them before waiting for any
		var request bundleio.Request
		err := invalid
		if err == nil {
			request, err = originOf(s, choice).Bundle(ctx, c.live, choice.Bundle, policy)
		} else {
			err = fmt.Errorf("fetch bundle %s: %w", choice.Bundle.Name, err)
		}
		if err != nil {
			f.states[i] = bundleio.State{Err: err, RetryAt: c.Clock.Now().Add(retrySecrets)}
			continue
		}
		requests[i] = request
		c.Unpacker.Get(ctx, request, 0)
	}
	deadline := c.Clock.Now().Add(patience)
	var problems []string
	for i, choice := range choices {
		if requests[i].Name != "" {
			f.states[i] = c.Unpacker.Get(ctx, requests[i], max(deadline.Sub(c.Clock.Now()), 0))
		}
		condition, pending := lookupCondition(choice.Bundle.Name, f.states[i])
		path := f.states[i].Pinned
		if pending {
			path = choice.Bundle.Image
		}
		lookup := resolution.LookupOf(choice, path, originOf(s, choice).CatalogImage())
		if pending {
			lookup.Conditions = []v1alpha1.BundleLookupCondition{condition}
			problems = append(problems, condition.Message)
		}
		if signature := resolution.SignatureCondition(verdictOf(f.states[i])); signature != nil {
			lookup.Conditions = append(lookup.Conditions, *signature)
		}
		f.lookups = append(f.lookups, lookup)
		if at := f.states[i].RetryAt; f.states[i].Err != nil {
			if wait := max(at.Sub(c.Clock.Now()), time.Second); f.retry == 0 || wait < f.retry {
				f.retry = wait
			}
		}
	}
	f.problem = strings.Join(problems, "; ")
	return f
}

// originOf is the catalog that a choice is from.
func originOf(s *survey, choice resolution.Choice) bundleio.Origin {
	from := s.Source(choice.Catalog)
	return bundleio.Origin{Namespace: from.Object.Namespace, Secrets: from.Object.Spec.Secrets, Index: from.Served.Index, Image: from.Served.Image}
}

// unpackPending is the reason of a bundle that is on its way. Tools know it from when bundles were unpacked by Jobs.
const unpackPending = "JobIncomplete"

// catalogMissing is the reason of a bundle that a CatalogSource has which does not exist.
const catalogMissing = "CatalogSourceMissing"

// lookupCondition says how far a bundle is; false is that it is there. A bundle that could not be had is failed, and not pending, until
// it is there: that it is tried again is part of the message.
func lookupCondition(name string, s bundleio.State) (v1alpha1.BundleLookupCondition, bool) {
	c := v1alpha1.BundleLookupCondition{Type: v1alpha1.BundleLookupPending, Status: corev1.ConditionTrue, Reason: unpackPending}
	switch {
	case s.Err != nil:
		c.Type, c.Reason = v1alpha1.BundleLookupFailed, bundleio.ReasonOf(s.Err)
		c.Message = messages.Line(s.Err.Error(), maxProblem)
	case s.Done():
		return c, false
	case s.Slow != "":
		c.Message = fmt.Sprintf("fetching bundle %s, slowly: %s", name, s.Slow)
	default:
		c.Message = "fetching bundle " + name
	}
	return c, true
}

// verdictOf is what is known of the signatures of a bundle. An error of a registry says nothing of them.
func verdictOf(s bundleio.State) image.Verdict {
	v := image.Verdict{Verification: s.Verification}
	if image.Decides(s.Err) {
		v.Err = s.Err
	}
	return v
}

// fetchError says that a bundle which has to be read again is not there.
type fetchError struct {
	name   string
	state  bundleio.State
	awaits string // what has to come before it can be fetched; empty is nothing
	source bool   // which is a CatalogSource that does not exist
}

// Error tells how far it is.
func (e *fetchError) Error() string {
	c, _ := e.condition()
	return c.Message
}

// condition says how far it is as a lookup does.
func (e *fetchError) condition() (v1alpha1.BundleLookupCondition, bool) {
	if e.awaits == "" {
		return lookupCondition(e.name, e.state)
	}
	c := v1alpha1.BundleLookupCondition{Type: v1alpha1.BundleLookupPending, Status: corev1.ConditionTrue, Reason: unpackPending, Message: e.awaits}
	if e.source {
		c.Reason = catalogMissing
	}
	return c, true
}

// Unwrap returns why the last attempt failed.
func (e *fetchError) Unwrap() error { return e.state.Err }

// isPatient tells whether what failed is given all the time there is: permissions are granted by people, and registries come back.
func (d outcome) isPatient() bool { return d.forbidden || len(d.lookups) > 0 }

// refetch is when a bundle that could not be had is tried again; zero is that there is none.
func (d outcome) refetch() time.Time {
	var soonest time.Time
	for _, e := range d.lookups {
		if e.state.Err != nil && (soonest.IsZero() || e.state.RetryAt.Before(soonest)) {
			soonest = e.state.RetryAt
		}
	}
	return soonest
}

// setConditions makes the conditions of the given types the wanted ones.
func setConditions(l *v1alpha1.BundleLookup, wanted []v1alpha1.BundleLookupCondition, now metav1.Time, types ...v1alpha1.BundleLookupConditionType) {
	for _, t := range types {
		stays := false
		for _, c := range wanted {
			if c.Type != t {
				continue
			}
			stays = true
			c.Message = safetext.Fit(c.Message, maxLookupMessage) // as it is written: else each pass would write it again
			if old := l.GetCondition(t); old.Status != c.Status || old.Reason != c.Reason || old.Message != c.Message {
				l.SetCondition(c, now)
			}
		}
		if !stays {
			l.RemoveCondition(t)
		}
	}
	if len(l.Conditions) == 0 {
		l.Conditions = nil
	}
}
