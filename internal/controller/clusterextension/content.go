package clusterextension

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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

func (m *content) servingText() string {
	if len(m.serving) == 0 {
		return ""
	}
	text, err := json.Marshal(m.serving)
	if err != nil {
		panic("plain values always encode: " + err.Error())
	}
	return string(text)
}

// content gets what the target consists of; nil while it is not at hand, which the outcome tells. What was rendered and could not be
// written is kept for the next pass.
func (f *fetcher) content(ctx context.Context, s *state, step desired.Step, o *outcome) (*content, error) {
	t, inputs := step.Target, step.Inputs
	if t.Source != nil {
		return f.repeat(ctx, s, t, o)
	}
	policy := image.Policy(f.Verifier)
	if known, ok := f.rendered.Load(s.ext.Name); ok && known.inputs == inputs && known.policy == policy && !known.expired(f.Clock.Now()) {
		again := *known
		return &again, nil
	}
	b, verification := f.fetch(ctx, s.ext.Name, t, o)
	if b == nil {
		return nil, nil
	}
	rendered, err := f.render(b, desired.RenderOptions(s.ext, step.Provider))
	if err != nil {
		o.problem = unrenderable(t, err)
		return nil, nil
	}
	condition, err := conditionIn(rendered.Objects)
	if err != nil {
		return nil, err
	}
	made := &content{inputs: inputs, objects: desired.Objects(rendered), condition: condition, properties: string(rendered.Properties), provider: step.Provider, serving: rendered.Serving,
		verification: image.Record(verification), policy: policy}
	if verification != nil {
		made.expires = verification.Expires
	}
	kept := *made
	f.rendered.Store(s.ext.Name, &kept)
	return made, nil
}

// expired reports whether the bundle has to be verified again before what was rendered of it is used.
func (m *content) expired(now time.Time) bool { return !m.expires.IsZero() && !now.Before(m.expires) }

// unrenderable says whose matter it is that a bundle does not become objects.
func unrenderable(t *desired.Target, err error) error {
	var config *registryv1.ConfigError
	if errors.As(err, &config) {
		return revision.Misconfigured(err)
	}
	return revision.Blocked(fmt.Errorf("render bundle %s: %w", t.Name, err))
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

// fetch gets the bundle of a target, and why it may be used; nil while it is not there.
func (f *fetcher) fetch(ctx context.Context, ext string, t *desired.Target, o *outcome) (*bundle.Bundle, *image.Verification) {
	request, err := t.Request(func(from bundleio.Origin, b *catalog.BundleInfo) (bundleio.Request, error) {
		return from.Bundle(ctx, f.live, b, bundleio.Policy{})
	})
	if err != nil {
		o.problem = err
		return nil, nil
	}
	return f.get(ctx, ext, request, o)
}

// get asks for a bundle; nil while it is not there, which the outcome tells.
func (f *fetcher) get(ctx context.Context, ext string, request bundleio.Request, o *outcome) (*bundle.Bundle, *image.Verification) {
	state := f.ask(ctx, ext, request, o)
	return state.Bundle, state.Verification
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
