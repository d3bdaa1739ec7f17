package catalogsource

import (
	"errors"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/test/golden"
	"fairlead.dev/fairlead/test/must"
)

// TestVerdicts has every way in which a CatalogSource is ready or not.
func TestVerdicts(t *testing.T) {
	c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte("schema: olm.package\nname: a\ndefaultChannel: s\n---\nschema: olm.channel\npackage: a\n" +
		"name: s\nentries: [{name: a.v1}]\n---\nschema: olm.bundle\npackage: a\nname: a.v1\nimage: q/a:1\nproperties: [{type: olm.package, value: {packageName: a, version: 1.0.0}}]\n")}}, catalog.LoadOptions{}))(t)
	index := must.Value(catalog.NewIndex(c, "sha256:1"))(t)
	down := &image.Error{Kind: image.Unavailable, Op: "resolve", Ref: "q/c:v1", Reason: "connection refused", Advice: "check the registry"}
	broken := &image.Error{Kind: image.InvalidImage, Op: "pull", Ref: "q/c:v1", Reason: "it is broken", Advice: "push it again"}
	served := content{index: index, served: "image q/c:v1", desired: "image q/c:v1", digest: "sha256:1"}
	other := content{index: index, served: "image q/c:v0", desired: "image q/c:v1"}
	const digested = "q/c@sha256:0123456789012345678901234567890123456789012345678901234567890123"
	states := map[string]any{}
	for name, test := range map[string]struct {
		known   content
		problem error
		invalid error
		offered offer
		image   string
		want    string
	}{
		"serves":                           {known: served, want: "Ready=True/Serving"},
		"serves with errors":               {known: func() content { k := served; k.warnings = "x"; return k }(), want: "Ready=True/ServingWithProblems"},
		"serves, clients do not reach it":  {known: served, offered: offer{err: errors.New("no address")}, want: "Ready=True/ServingWithProblems"},
		"serves what it served last":       {known: served, problem: down, want: "Ready=True/ServingLastGoodContent"},
		"serves, a new pod comes":          {known: served, offered: offer{waiting: "its pod starts"}, want: "Ready=True/ServingLastGoodContent"},
		"is loaded":                        {want: "Ready=False/Loading Reconciling=True"},
		"is loaded, the pod starts":        {offered: offer{waiting: "its pod starts"}, want: "Ready=False/Loading Reconciling=True"},
		"no registry server":               {offered: offer{err: errors.New("no pod")}, want: "Ready=False/RegistryServerError Reconciling=True"},
		"no registry":                      {problem: down, want: "Ready=False/RegistryServerError Reconciling=True"},
		"no ConfigMap":                     {problem: configMapError{errors.New("not found")}, want: "Ready=False/ConfigMapError Reconciling=True"},
		"a broken image behind a tag":      {problem: broken, want: "Ready=False/RegistryServerError Reconciling=True"},
		"a broken image by digest":         {problem: broken, image: digested, want: "Ready=False/RegistryServerError Stalled=True"},
		"no name of an image":              {problem: &image.Error{Kind: image.InvalidReference, Op: "resolve", Ref: "Q", Reason: "upper case", Advice: "write it right"}, want: "Ready=False/RegistryServerError Stalled=True"},
		"a spec that says nothing":         {invalid: errors.New("no source"), want: "Ready=False/SpecInvalidError Stalled=True"},
		"another image is loaded":          {known: other, want: "Ready=Unknown/Loading Reconciling=True"},
		"another image cannot be had":      {known: other, problem: down, want: "Ready=False/RegistryServerError Reconciling=True"},
		"another image, broken, by digest": {known: other, problem: broken, image: digested, want: "Ready=False/RegistryServerError Stalled=True"},
	} {
		t.Run(name, func(t *testing.T) {
			source := &v1alpha1.CatalogSource{Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: "q/c:v1"}}
			if source.Generation = 5; test.image != "" {
				source.Spec.Image = test.image
			}
			test.known.problem, test.known.invalid = test.problem, test.invalid
			r := report{known: test.known, offered: test.offered}
			source.Status = status(source, r, time.Unix(1000, 0))
			got := ""
			for _, c := range source.Status.Conditions {
				if got += " " + c.Type + "=" + string(c.Status); c.Type == "Ready" {
					got = c.Type + "=" + string(c.Status) + "/" + c.Reason
				}
			}
			must.Equal(t, "verdict", got, test.want)
			must.Equal(t, "observed generation", source.Status.ObservedGeneration, 5)
			must.Equal(t, "the same later", status(source, r, time.Unix(2000, 0)).Conditions, source.Status.Conditions)
			states[name] = source
		})
	}
	golden.States(t, "testdata/states.txtar", v1alpha1.GroupVersion.String(), v1alpha1.CatalogSourceKind, states)
}
