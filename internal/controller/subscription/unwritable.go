package subscription

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/resolution"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// judged is the content of a plan, or the status of a plan that failed before anything was written, because the API server would never take what
// the bundles hold. Such a plan has no steps. It is written once for the same content under the same limits, and stands until one of them changes or a
// user deletes it.
func (c *Controller) judged(ctx context.Context, s *state, g *group, p *v1alpha1.InstallPlan, bundles []bundleio.State) (v1alpha1.InstallPlanStatus, error) {
	status, err := c.content(ctx, s, g, p, bundles)
	if !errors.Is(err, bundle.ErrUnwritable) {
		return status, err
	}
	failed := v1alpha1.InstallPlanStatus{Phase: v1alpha1.InstallPlanPhaseFailed, Message: tidy(err.Error()), CatalogSources: []string{}}
	failed.SetCondition(v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanInstalled, v1alpha1.InstallPlanReasonContentInvalid, failed.Message),
		metav1.NewTime(c.Clock.Now()))
	// Identify what was judged. A tag may lead to another image when the same plan is made the next time.
	sum := sha256.New()
	for _, b := range bundles {
		fmt.Fprintf(sum, "%q %q\n", b.Bundle.Name, b.Pinned)
	}
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, judgedAnnotation, fmt.Sprintf("%s/%x", limits, sum.Sum(nil)[:16]))
	return failed, nil
}

// judgedAnnotation on a plan that failed on content which the API server never takes says what was judged: the limits, a slash, and the bundles by digest.
const judgedAnnotation = "operators.fairlead.dev/judged"

// limits identifies the limits by which content is judged. A manager with others judges again.
var limits = fmt.Sprintf("%s-%d", bundle.WritableLimits, resolution.MaxPlanContent)

// judgements are when content behind tags was judged again, by the UIDs of the plans that had failed on it, and that it was still the same.
type judgements struct {
	mu   sync.Mutex
	made map[types.UID]judgement
}

// judgement is the last of so many.
type judgement struct {
	at    time.Time
	times int
}

// next is when the content of a final plan is to be judged again; zero for never, because it cannot have changed. Until its tags are asked for again, it
// takes as long as until the next plan of one that failed otherwise.
func (j *judgements) next(p *v1alpha1.InstallPlan, g *group) time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	before, ok := j.made[p.UID]
	judgedBy, _, _ := strings.Cut(p.Annotations[judgedAnnotation], "/")
	// Whether an image is named by a tag. The manifests of catalogs are part of what a plan is for.
	tagged := slices.ContainsFunc(g.Choices, func(c resolution.Choice) bool { return c.Bundle.Image != "" && !strings.Contains(c.Bundle.Image, "@") })
	switch {
	case judgedBy != limits:
		return failedAt(p)
	case !tagged:
		return time.Time{}
	case !ok:
		return failedAt(p).Add(repeatFailed)
	}
	return before.at.Add(doubled(repeatFailed, before.times, repeatLongest))
}

// confirms reports whether a judgement comes to what a final plan says already, and notes that.
func (j *judgements) confirms(s *state, next *v1alpha1.InstallPlan, g *group, now time.Time) *v1alpha1.InstallPlan {
	if next.Annotations[judgedAnnotation] == "" {
		return nil
	}
	for i := range s.Plans {
		p := &s.Plans[i]
		if !includes(p.Spec.ClusterServiceVersionNames, names(g.Choices)) || !isFor(p, g) {
			continue
		}
		if !isFinal(p) || p.Annotations[judgedAnnotation] != next.Annotations[judgedAnnotation] {
			return nil // the newest one counts
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.made == nil || len(j.made) >= maxJudgements {
			j.made = map[types.UID]judgement{}
		}
		j.made[p.UID] = judgement{at: now, times: j.made[p.UID].times + 1}
		return p
	}
	return nil
}

// maxJudgements bounds what is remembered of plans.
const maxJudgements = 4096

// isFinal reports whether a plan failed on content that no other plan helps with, as long as it is the same.
func isFinal(p *v1alpha1.InstallPlan) bool {
	return p.Status.Phase == v1alpha1.InstallPlanPhaseFailed && p.Status.GetCondition(v1alpha1.InstallPlanInstalled).Reason == v1alpha1.InstallPlanReasonContentInvalid
}
