package preview

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWhyWithARemedy: a headline, the chain, and the command that changes it.
func TestWhyWithARemedy(t *testing.T) {
	dir := t.TempDir()
	must.NoError(t, os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(browseContent), 0o600))
	sub := func(pkg, channel string, plan v1alpha1.InstallPlanPhase) []client.Object {
		s := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "my"},
			Spec: &v1alpha1.SubscriptionSpec{Package: pkg, Channel: channel, CatalogSource: "toys", CatalogSourceNamespace: "olm"}}
		if plan == "" {
			return []client.Object{s}
		}
		s.Status.InstallPlanRef = &corev1.ObjectReference{Name: "install-1"}
		p := &v1alpha1.InstallPlan{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "install-1"}}
		p.Spec.ClusterServiceVersionNames, p.Status.Phase = []string{"wind.v1.0.0"}, plan
		return []client.Object{s, p}
	}
	extension := func(pkg, version string, channels ...string) []client.Object {
		e := &olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: "my"}}
		e.Spec.Namespace, e.Spec.Source = "here", olmv1.SourceConfig{SourceType: olmv1.SourceTypeCatalog, Catalog: &olmv1.CatalogFilter{PackageName: pkg, Version: version, Channels: channels}}
		return []client.Object{e}
	}
	for name, test := range map[string]struct {
		objects  []client.Object
		headline string
		remedies []string
	}{
		"a mistyped channel":   {sub("wind", "onlx", ""), "wind cannot be installed: channel onlx does not exist; did you mean only?", []string{"fairlead upgrade my -n here --channel only"}},
		"another channel":      {sub("wind", "nightly", ""), "wind cannot be installed: channel nightly does not exist", []string{"fairlead upgrade my -n here --channel only"}},
		"a mistyped package":   {sub("wnid", "only", ""), "wnid cannot be installed: catalog olm/toys has no package wnid; did you mean wind?", []string{"fairlead uninstall my -n here", "fairlead install wind -n here"}},
		"another package":      {sub("balloon", "only", ""), "balloon cannot be installed: catalog olm/toys has no package balloon", nil},
		"a plan that waits":    {sub("wind", "only", v1alpha1.InstallPlanPhaseRequiresApproval), "", []string{"fairlead approve my -n here"}},
		"a plan that does not": {sub("wind", "only", v1alpha1.InstallPlanPhaseInstalling), "", nil},

		"an extension with a mistyped channel": {extension("kite", "", "stabel"), "kite cannot be installed: channel stabel does not exist; did you mean stable?", []string{"fairlead upgrade my --channel stable"}},
		"an extension of a mistyped package":   {extension("kiet", ""), "kiet cannot be installed: no catalog that is asked has package kiet; did you mean kite?", nil},
		"an extension with another version":    {extension("wind", ">=7"), `wind cannot be installed: no bundles found for package "wind" matching version ">=7"`, []string{"fairlead upgrade my --version ''"}},
		"an extension that needs another one":  {extension("kite", "1.10.0"), "kite cannot be installed: it needs package wind >=1.0.0, which no ClusterExtension has installed", []string{"fairlead install wind --api v1 -n here --version '>=1.0.0'"}},
	} {
		t.Run(name, func(t *testing.T) {
			objects := append(test.objects, &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "toys"}})
			q := must.Value(Cluster{Reader: reader(t, objects...), Server: server{version: "v1.36.0"}}.Question(t.Context(), "here", "olm"))(t)
			q.Catalogs = []Catalog{{Ref: catalog.Ref{Namespace: "olm", Name: "toys"}, Source: dir}, {Ref: catalog.Ref{Name: "toys"}, Source: dir}}
			if _, v1 := test.objects[0].(*olmv1.ClusterExtension); v1 {
				q.Catalogs = q.Catalogs[1:]
			} else {
				q.Catalogs = q.Catalogs[:1]
			}
			p := must.Value(q.Decide(t.Context(), library(t)))(t)
			w := p.Why("my")
			must.Equal(t, "headline", w.Headline, test.headline)
			must.Equal(t, "remedies", w.Remedies, test.remedies)
			var text strings.Builder
			must.NoError(t, w.Write(&text))
			if test.headline != "" && (!strings.HasPrefix(text.String(), "✗ "+test.headline+"\n\n") || strings.Count(text.String(), test.headline) != 1 && len(test.objects) == 1 && !strings.Contains(name, "extension")) {
				t.Errorf("the headline is not first, or printed twice:\n%s", text.String())
			}
			if len(test.remedies) > 0 {
				must.Contain(t, "text", text.String(), "\nto change that:\n  "+strings.Join(test.remedies, "\n  ")+"\n")
			}
		})
	}
}
