package clusterextension

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/revision"
	"fairlead.dev/fairlead/internal/unpack"

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
		return c.repeat(ctx, t)
	}
	if known, ok := c.rendered.Load(s.ext.Name); ok && known.inputs == inputs {
		again := *known
		return &again, nil
	}
	b := c.fetch(ctx, s.ext.Name, t, o)
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
	made := &content{inputs: inputs, name: t.Name, version: t.Version, image: t.Image, digest: t.Content, objects: Objects(rendered), condition: condition, properties: string(rendered.Properties), provider: provider, serving: rendered.Serving}
	kept := *made
	c.rendered.Store(s.ext.Name, &kept)
	return made, nil
}

// unrenderable says whose matter it is that a bundle does not become objects.
func unrenderable(t *target, err error) error {
	var config *registryv1.ConfigError
	if errors.As(err, &config) {
		return misconfigured(err)
	}
	return blocked(fmt.Errorf("render bundle %s: %w", t.Name, err))
}

// repeat reads the objects of an earlier revision.
func (c *Controller) repeat(ctx context.Context, t *target) (*content, error) {
	objects, err := revision.Objects(ctx, c.client, t.source)
	if err != nil {
		return nil, fmt.Errorf("read revision %s, which is to be gone back to: %w", t.source.Name, err)
	}
	made := &content{repeated: true, inputs: t.source.Annotations[inputsKey], name: t.Name, version: t.Version, objects: objects, properties: t.source.Annotations[olmv1.PropertiesKey],
		provider: registryv1.CertificateProvider(t.source.Annotations[providerKey]), condition: t.source.Annotations[conditionKey],
		conditionName: t.source.Annotations[conditionNameKey]}
	made.serving, err = servingOf(t.source)
	return made, err
}

// fetch gets the bundle of a target; nil while it is not there.
func (c *Controller) fetch(ctx context.Context, ext string, t *target, o *outcome) *bundle.Bundle {
	request := unpack.Request{Name: t.Name, Image: t.Image}
	switch {
	case t.info != nil && t.index != nil:
		var err error
		if request, err = (unpack.Origin{Index: t.index}).Bundle(ctx, c.live, t.info, unpack.Policy{}); err != nil {
			o.problem = err
			return nil
		}
	case t.Image == "":
		o.problem = fmt.Errorf("bundle %s has no image, and the catalog that held its manifests is not there any more: serve it again to change the configuration", t.Name)
		return nil
	}
	return c.get(ctx, ext, request, o)
}

// get asks for a bundle; nil while it is not there, which the outcome tells.
func (c *Controller) get(ctx context.Context, ext string, request unpack.Request, o *outcome) *bundle.Bundle {
	if request.Image != "" {
		var err error
		if request.Auth, err = c.Credentials.Read(ctx, c.live); err != nil {
			o.problem = err
			return nil
		}
	}
	c.fetching.Store(ext, true) // before it is asked for, so that its arrival is not missed
	state := c.Bundles.Get(ctx, request, patience)
	switch {
	case state.Done():
		c.fetching.Delete(ext)
	case state.Err != nil:
		o.problem = state.Err
		o.soonest(max(state.RetryAt.Sub(c.Clock.Now()), minPause))
	default:
		o.doing = fmt.Sprintf("fetching bundle %s", cmp.Or(request.Name, request.Image))
		if state.Slow != "" {
			o.doing += ", slowly: " + state.Slow
		}
	}
	return state.Bundle
}
