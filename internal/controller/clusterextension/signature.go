package clusterextension

import (
	"context"
	"fmt"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// signature reports who signed the bundle that rolls out or is installed, or why the bundle that is to take its place is refused; nil where
// no policy is configured, or nothing was fetched.
func (v view) signature() *metav1.Condition {
	if !v.outcome.verifies {
		return nil
	}
	if image.Decides(v.outcome.problem) {
		c := image.Verdict{Err: v.outcome.problem}.Condition()
		c.Message = olmv1.TruncateMessage(c.Message + v.keeps())
		return c
	}
	r := v.outcome.made
	if r == nil {
		r = v.revisions.Newest()
	}
	if r == nil {
		return nil
	}
	name := r.Annotations[olmv1.BundleNameKey]
	recorded := image.Recorded(r.Annotations)
	if recorded == nil {
		c := olmv1.NewCondition(olmv1.TypeSignatureVerified, metav1.ConditionUnknown, olmv1.ReasonUndecided,
			fmt.Sprintf("bundle %s was fetched before there was a signature policy; it is verified when it is fetched again, as for an upgrade or another configuration", name))
		return &c
	}
	c := image.Verdict{Verification: recorded}.Condition()
	c.Message = olmv1.TruncateMessage(fmt.Sprintf("bundle %s is %s", name, c.Message))
	return c
}

// verifyTime bounds one attempt to verify a bundle.
const verifyTime = 20 * time.Second

// judgeRevision decides whether the bundle of a revision that a user rolls back to may be installed again, by the signature policy as it is now.
// While it may not, the outcome has the reason. The automatic rollback of a failed rollout is exempt: a refusal would leave an extension
// that does not work, and what is installed stays whatever the policy says by now.
func (f *fetcher) judgeRevision(ctx context.Context, s *state, t *desired.Target, o *outcome) (*image.Verification, bool) {
	if !o.verifies || t.Undone != nil {
		return nil, true
	}
	request := judgementOf(t)
	if request == nil {
		o.problem = revision.Blocked(image.Undecided(fmt.Errorf("roll back to revision %s: bundle %s has no image, and was installed before there was a signature policy: "+
			"what its manifests were read from is not known, and cannot be verified; correct or remove annotation %s", t.Source.Name, t.Name, desired.RollbackToKey)))
		return nil, false
	}
	state := f.ask(ctx, s.ext.Name, *request, o)
	switch {
	case image.IsUnverified(o.problem):
		o.problem = revision.Blocked(fmt.Errorf("roll back to revision %s: %w; or remove annotation %s", t.Source.Name, o.problem, desired.RollbackToKey))
		return nil, false
	case o.problem != nil:
		o.problem = fmt.Errorf("roll back to revision %s: %w", t.Source.Name, o.problem)
		return nil, false
	}
	known := request.Image == "" || strings.Contains(request.Image, "@")
	if v := state.Verification; v != nil && v.Outcome != image.Accepted && !known {
		o.problem = revision.Blocked(image.Undecided(fmt.Errorf("roll back to revision %s: image %s was installed by a tag, before there was a signature policy: which digest "+
			"that stood for is not known, and cannot be verified; correct or remove annotation %s", t.Source.Name, t.Image, desired.RollbackToKey)))
		return nil, false
	}
	return state.Verification, state.Done()
}

// judgementOf asks about the bundle of a revision, by the digest that it had; nil where nothing is known that could be asked about.
func judgementOf(t *desired.Target) *bundleio.Request {
	recorded := image.Recorded(t.Source.Annotations)
	request := &bundleio.Request{Name: t.Name, Image: t.Image, NamedBy: t.NamedBy, Judge: true, Policy: bundleio.Policy{Timeout: verifyTime}}
	switch {
	case t.Image != "" && recorded != nil && recorded.Digest != "" && !strings.Contains(t.Image, "@"):
		request.Image, request.Requested = image.Pin(t.Image, recorded.Digest), t.Image
	case t.Image != "":
	case recorded == nil:
		return nil
	case recorded.Catalog != nil:
		request.NamedBy = recorded.Catalog
	default: // the catalog was accepted
		request.NamedBy = &image.Origin{Ref: recorded.Ref, Digest: recorded.Digest}
	}
	return request
}
