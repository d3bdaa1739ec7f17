package clusterextension

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// content is what a revision consists of.
type content struct {
	inputs     string
	objects    []*unstructured.Unstructured
	properties string
	provider   registryv1.CertificateProvider
	serving    []registryv1.Serving
	// authorities identify what the objects trust; empty when they trust no certificate of the controller.
	authorities string
	condition   string // who may write the OperatorCondition, as it is noted on the revision
	// conditionName is that of the OperatorCondition which the pods know; empty for that of the extension.
	conditionName string
	// adopted is the ClusterServiceVersion whose objects are adopted, and found are those objects; empty when there is none.
	adopted string
	found   []*unstructured.Unstructured

	verification string    // why the signature policy let the bundle be used, as it is noted on the revision
	policy       string    // identifies the signature policy under which it was rendered
	expires      time.Time // when the verification ends; zero when it does not
}

// content gets what the target consists of; nil while it is not at hand, which the outcome tells. What was rendered and could not be
// written is kept for the next pass.
func (f *fetcher) content(ctx context.Context, s *state, step desired.Step, o *outcome) (*content, error) {
	t, inputs := step.Target, step.Inputs
	if t.Source != nil {
		return f.repeat(ctx, s, t, o)
	}
	policy := image.Policy(f.Verifier)
	if kept, ok := f.rendered.Get(s.ext.Name); ok {
		again := *kept.(*content)
		if again.inputs == inputs && again.policy == policy && (again.expires.IsZero() || f.Clock.Now().Before(again.expires)) {
			return &again, nil
		}
	}
	request, err := t.Request(func(from bundleio.Origin, b *catalog.BundleInfo) (bundleio.Request, error) {
		return from.Bundle(ctx, f.live, b, bundleio.Policy{})
	})
	if err != nil {
		o.problem = err
		return nil, nil
	}
	got := f.ask(ctx, s.ext.Name, request, o)
	if got.Bundle == nil {
		return nil, nil
	}
	rendered, err := f.render(got.Bundle, desired.RenderOptions(s.ext, step.Provider))
	if err != nil {
		if o.problem = revision.Blocked(fmt.Errorf("render bundle %s: %w", t.Name, err)); errors.As(err, new(*registryv1.ConfigError)) {
			o.problem = revision.Misconfigured(err)
		}
		return nil, nil
	}
	var condition []byte // who may write the OperatorCondition, as it is noted on the revision; empty when there is none
	if i := slices.IndexFunc(rendered.Objects, desired.IsCondition); i >= 0 {
		of := &v2.OperatorCondition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered.Objects[i].Object, of); err != nil {
			return nil, fmt.Errorf("read the OperatorCondition that was rendered: %w", err)
		}
		if condition, err = json.Marshal(told{of.Spec.ServiceAccounts, of.Spec.Deployments}); err != nil {
			return nil, err
		}
	}
	made := &content{inputs: inputs, objects: desired.Objects(rendered), condition: string(condition), properties: string(rendered.Properties), provider: step.Provider, serving: rendered.Serving,
		verification: image.Record(got.Verification), policy: policy}
	if got.Verification != nil {
		made.expires = got.Verification.Expires
	}
	kept := *made
	f.rendered.Add(s.ext.Name, &kept)
	return made, nil
}

// repeat reads the objects of an earlier revision; nil while the signature policy does not let them be used again; the outcome has the reason.
func (f *fetcher) repeat(ctx context.Context, s *state, t *desired.Target, o *outcome) (*content, error) {
	verification, ok := f.judgeRevision(ctx, s, t, o)
	if !ok {
		return nil, nil
	}
	objects, err := revision.Objects(ctx, f.client, t.Source)
	if err != nil {
		return nil, fmt.Errorf("read revision %s, which is to be restored: %w", t.Source.Name, err)
	}
	made := &content{inputs: t.Source.Annotations[desired.InputsKey], objects: objects, properties: t.Source.Annotations[olmv1.PropertiesKey],
		provider: registryv1.CertificateProvider(t.Source.Annotations[desired.ProviderKey]), condition: t.Source.Annotations[conditionKey],
		conditionName: t.Source.Annotations[revision.ConditionNameKey], verification: cmp.Or(image.Record(verification), t.Source.Annotations[verificationKey])}
	made.serving, err = servingOf(t.Source)
	return made, err
}

// ask requests a bundle, or whether it may be used. Where that is not done, the outcome has the reason.
func (f *fetcher) ask(ctx context.Context, ext string, request bundleio.Request, o *outcome) bundleio.State {
	if request.Image != "" || request.NamedBy != nil {
		var err error
		if request.Auth, err = f.Credentials.Read(ctx, f.live); err != nil {
			o.problem = err
			return bundleio.State{}
		}
	}
	f.interests.fetching.Store(ext, true) // before it is asked for, so that its arrival is not missed
	state := f.Bundles.Get(ctx, request, fetchTimeout)
	switch {
	case state.Done():
		f.interests.fetching.Delete(ext)
	case state.Err != nil:
		o.problem = state.Err
		if image.IsUnverified(state.Err) {
			o.problem = revision.Blocked(state.Err)
		}
		o.soonest(max(state.RetryAt.Sub(f.Clock.Now()), minPause))
	default:
		doing := "fetching bundle"
		if request.Judge {
			doing = "verifying the signatures of bundle"
		}
		o.doing = fmt.Sprintf("%s %s", doing, cmp.Or(request.Name, request.Image))
		if state.Slow != "" {
			o.doing += ", slowly: " + state.Slow
		}
	}
	return state
}
