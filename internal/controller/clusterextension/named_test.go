package clusterextension

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	clocktesting "k8s.io/utils/clock/testing"
)

// The manifests of a bundle that brings a CRD and nothing that runs.
const (
	crdsOnlyCSV = `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"another-name.v0.0.7"},"spec":{"version":"0.0.7",` +
		`"installModes":[{"type":"AllNamespaces","supported":true}],"customresourcedefinitions":{"owned":[{"name":"widgets.example.com","version":"v1","kind":"Widget"}]}}}`
	crdsOnlyCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",` +
		`"names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
)

// TestCatalogNamesTheBundle installs, with the real unpacker and renderer, a bundle whose ClusterServiceVersion has another name and another version than
// its catalog says, and no spec.install: the status and the revision have the identity of the catalog, and the CRD is the one object.
func TestCatalogNamesTheBundle(t *testing.T) {
	w := newWorld(t, want("my", "a", ""))
	w.controller.render = registryv1.Render
	w.controller.Bundles = realUnpacker{bundleio.NewUnpacker(nil, clocktesting.NewFakeClock(time.Unix(1_700_000_000, 0)), func() {})}
	text := strings.Replace(pkg("a", "1.0.0"), "image: quay.io/a:v1.0.0\n", "", 1)
	for _, manifest := range []string{crdsOnlyCSV, crdsOnlyCRD} {
		text += fmt.Sprintf("- {type: olm.bundle.object, value: {data: %s}}\n", base64.StdEncoding.EncodeToString([]byte(manifest)))
	}
	w.serve("cat", text)
	w.settle("my")
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
	must.Equal(t, "the installed bundle", w.installed("my"), "a.v1.0.0")
	set := w.newest("my")
	must.Equal(t, "the revision has annotations", set.Annotations[olmv1.BundleNameKey], "a.v1.0.0")
	must.Equal(t, "the revision has annotations", set.Annotations[olmv1.BundleVersionKey], "1.0.0")
	objects := must.Value(revision.Objects(t.Context(), w.client, set))(t)
	must.Equal(t, "the revision", len(objects), 1)
	must.Equal(t, "the revision", objects[0].GetName(), "widgets.example.com")
}

// realUnpacker waits for what is fetched in the background.
type realUnpacker struct{ *bundleio.Unpacker }

func (u realUnpacker) Get(ctx context.Context, r bundleio.Request, _ time.Duration) bundleio.State {
	state, err := u.Fetch(ctx, r)
	state.Err = err
	return state
}
