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
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/rollout/revision"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// content is what a revision consists of.
type content struct {
	inputs     string
	name       string // of the bundle
	version    string
	image      string
	digest     string // of the catalog that holds the manifests, where there is no image
	objects    []*unstructured.Unstructured
	properties string
	provider   registryv1.CertificateProvider
	serving    []registryv1.Serving
	// authorities identify what the objects trust; empty when they trust no certificate of the controller.
	authorities string
	condition   string // who may write the OperatorCondition, as it is noted on the revision
	// conditionName is that of the OperatorCondition which the pods know; empty for that of the extension.
	conditionName string
	// adopted is the ClusterServiceVersion whose objects are taken over, and found are those objects; empty when there is none.
	adopted string
	found   []*unstructured.Unstructured

	verification string    // why the signature policy let the bundle be used, as it is noted on the revision
	policy       string    // identifies the signature policy under which it was rendered
	expires      time.Time // when the verification ends; zero when it does not

	repeated bool // the objects are those of an earlier revision
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
func (c *Controller) content(ctx context.Context, s *state, t *target, inputs string, o *outcome) (*content, error) {
	if t.source != nil {
		return c.repeat(ctx, s, t, o)
	}
	policy := image.Policy(c.Verifier)
	if known, ok := c.rendered.Load(s.ext.Name); ok && known.inputs == inputs && known.policy == policy && !known.expired(c.Clock.Now()) {
		again := *known
		return &again, nil
	}
	b, verification := c.fetch(ctx, s.ext.Name, t, o)
	if b == nil {
		return nil, nil
	}
	provider := c.providerFor(ctx, s.revisions.newest())
	rendered, err := c.render(b, RenderOptions(s.ext, provider))
	if err != nil {
		o.problem = unrenderable(t, err)
		return nil, nil
	}
	condition, err := conditionIn(rendered.Objects)
	if err != nil {
		return nil, err
	}
	made := &content{inputs: inputs, name: t.Name, version: t.Version, image: t.Image, digest: t.Content, objects: Objects(rendered), condition: condition, properties: string(rendered.Properties), provider: provider, serving: rendered.Serving,
		verification: image.Record(verification), policy: policy}
	if verification != nil {
		made.expires = verification.Expires
	}
	kept := *made
	c.rendered.Store(s.ext.Name, &kept)
	return made, nil
}

// expired reports whether the bundle has to be verified again before what was rendered of it is used.
func (m *content) expired(now time.Time) bool { return !m.expires.IsZero() && !now.Before(m.expires) }

// unrenderable says whose matter it is that a bundle does not become objects.
func unrenderable(t *target, err error) error {
	var config *registryv1.ConfigError
	if errors.As(err, &config) {
		return misconfigured(err)
	}
	return blocked(fmt.Errorf("render bundle %s: %w", t.Name, err))
}

// repeat reads the objects of an earlier revision; nil while the signature policy does not let them be used again; the outcome has the reason.
func (c *Controller) repeat(ctx context.Context, s *state, t *target, o *outcome) (*content, error) {
	verification, ok := c.judgeRevision(ctx, s, t, o)
	if !ok {
		return nil, nil
	}
	objects, err := revision.Objects(ctx, c.client, t.source)
	if err != nil {
		return nil, fmt.Errorf("read revision %s, which is to be restored: %w", t.source.Name, err)
	}
	made := &content{repeated: true, inputs: t.source.Annotations[inputsKey], name: t.Name, version: t.Version, objects: objects, properties: t.source.Annotations[olmv1.PropertiesKey],
		provider: registryv1.CertificateProvider(t.source.Annotations[providerKey]), condition: t.source.Annotations[conditionKey],
		conditionName: t.source.Annotations[conditionNameKey], verification: cmp.Or(image.Record(verification), t.source.Annotations[verificationKey])}
	made.serving, err = servingOf(t.source)
	return made, err
}

// fetch gets the bundle of a target, and why it may be used; nil while it is not there. A bundle is called as its catalog says, whatever the name of its
// ClusterServiceVersion.
func (c *Controller) fetch(ctx context.Context, ext string, t *target, o *outcome) (*bundle.Bundle, *image.Verification) {
	request := bundleio.Request{Name: t.Name, Image: t.Image, NamedBy: t.namedBy, ByCatalog: true}
	switch {
	case t.info != nil && t.index != nil:
		var err error
		if request, err = (bundleio.Origin{Index: t.index, Image: t.catalogImage, ByCatalog: true}).Bundle(ctx, c.live, t.info, bundleio.Policy{}); err != nil {
			o.problem = err
			return nil, nil
		}
	case t.Image == "":
		o.problem = fmt.Errorf("bundle %s has no image, and the catalog that held its manifests is not there any more: serve it again to change the configuration", t.Name)
		return nil, nil
	}
	return c.get(ctx, ext, request, o)
}

// get asks for a bundle; nil while it is not there, which the outcome tells.
func (c *Controller) get(ctx context.Context, ext string, request bundleio.Request, o *outcome) (*bundle.Bundle, *image.Verification) {
	state := c.ask(ctx, ext, request, o)
	return state.Bundle, state.Verification
}

// ask requests a bundle, or whether it may be used. Where that is not done, the outcome has the reason.
func (c *Controller) ask(ctx context.Context, ext string, request bundleio.Request, o *outcome) bundleio.State {
	if request.Image != "" || request.NamedBy != nil {
		var err error
		if request.Auth, err = c.Credentials.Read(ctx, c.live); err != nil {
			o.problem = err
			return bundleio.State{}
		}
	}
	c.fetching.Store(ext, true) // before it is asked for, so that its arrival is not missed
	state := c.Bundles.Get(ctx, request, patience)
	switch {
	case state.Done():
		c.fetching.Delete(ext)
	case state.Err != nil:
		o.problem = state.Err
		if image.IsUnverified(state.Err) {
			o.problem = blocked(state.Err)
		}
		o.soonest(max(state.RetryAt.Sub(c.Clock.Now()), minPause))
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
