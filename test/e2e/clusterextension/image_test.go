package clusterextension

import (
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/resolution/snapshot"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// widgets is a CustomResourceDefinition of the test, with a limit on a field.
func (w *world) widgets(limit string) string {
	group := w.name + ".example.com"
	return strings.NewReplacer("GROUP", group, "LIMIT", limit).Replace(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.GROUP"},
		"spec":{"group":"GROUP","scope":"Namespaced","names":{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"},"versions":[{"name":"v1","served":true,"storage":true,
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"LIMIT}}}}}}}]}}`)
}

func (w *world) owning() string {
	return strings.ReplaceAll(`,"customresourcedefinitions":{"owned":[{"name":"widgets.GROUP","kind":"Widget","version":"v1"}]}`, "GROUP", w.name+".example.com")
}

// TestABundleFromAnImage is installed without a catalog, exchanged for another image within the checks that every bundle passes, followed by
// what a catalog has, and removed.
func TestABundleFromAnImage(t *testing.T) {
	w := newWorld(t)
	secrets := `[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]`
	first := operator{pkg: w.name, version: "1.0.0", csv: w.owning(), files: map[string]string{"crd": w.widgets("")}}
	hotfix := operator{pkg: w.name, version: "1.0.1", csv: w.owning(), files: map[string]string{"crd": w.widgets("")}, rules: secrets}
	narrow := operator{pkg: w.name, version: "1.0.2", csv: w.owning(), files: map[string]string{"crd": w.widgets(`,"maximum":5`)}, rules: secrets}
	image := func(o operator) func(*olmv1.ClusterExtension) {
		return annotated(snapshot.BundleImageKey, w.pushBundle(o))
	}

	w.extend(w.name, w.name, image(first))
	w.installed(w.name, first.name())
	w.says(w.name, "Installed", "True", "Succeeded", "Installed bundle "+w.pushBundle(first)+" successfully")

	w.change(w.name, image(narrow))
	w.says(w.name, "Progressing", "True", "Retrying", "maximum")
	w.change(w.name, image(hotfix))
	w.says(w.name, "Progressing", "False", "Blocked", hotfix.name()+" asks for permissions that "+first.name()+" does not have:")
	message := meta.FindStatusCondition(w.extension(w.name).Status.Conditions, "Progressing").Message
	_, digest, _ := strings.Cut(message, `to "`)
	w.change(w.name, annotated("operators.fairlead.dev/acknowledged-permissions", digest[:strings.IndexByte(digest, '"')]))
	w.installed(w.name, hotfix.name())

	// The catalog's edge leads on from the hotfix as soon as catalogs decide.
	next := operator{pkg: w.name, version: "1.1.0", replaces: "1.0.1", csv: w.owning(), files: map[string]string{"crd": w.widgets("")}, rules: secrets}
	w.publish(hotfix, next)
	w.change(w.name, annotated(snapshot.BundleImageKey, ""))
	w.installed(w.name, next.name())

	must.NoError(w, w.Delete(w.Context(), w.extension(w.name)))
	w.gone(&olmv1.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
	if left := w.revisions(w.name); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
