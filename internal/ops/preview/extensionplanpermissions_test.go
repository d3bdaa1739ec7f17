package preview

import (
	"slices"
	"strings"
	"testing"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPlanOfTheSameName: what another image asks for in addition waits for a person's consent, whatever the bundle is called; what another
// configuration of the installed one does not.
func TestPlanOfTheSameName(t *testing.T) {
	first, _ := planned(t, planner(t, namespace()), extension(nil))
	for name, test := range map[string]struct {
		image string
		waits bool
	}{
		"the same image": {first.Wanted.Image, false},
		"another image":  {"registry.example.com/elsewhere/greeter-operator-bundle:v1.2.0", true},
	} {
		t.Run(name, func(t *testing.T) {
			e := extension(func(e *olmv1.ClusterExtension) {
				e.Status.Install = &olmv1.ClusterExtensionInstallStatus{Bundle: olmv1.BundleMetadata{Name: first.Wanted.Bundle, Version: first.Wanted.Version}}
			})
			rendered := must.Value(registryv1.Render(load(t, first.Wanted.Version), desired.RenderOptions(&e, registryv1.BuiltIn)))(t)
			harmless := slices.DeleteFunc(desired.Objects(rendered), func(u *unstructured.Unstructured) bool { return strings.HasSuffix(u.GetKind(), "Binding") })
			r := must.Value(revision.Build(revision.Options{Extension: revision.Extension{Name: "greeter", UID: "ext", Namespace: "ops"}, Number: 1, SystemNamespace: "olm", Objects: harmless,
				Annotations: map[string]string{olmv1.BundleNameKey: first.Wanted.Bundle, olmv1.BundleVersionKey: first.Wanted.Version, olmv1.BundleReferenceKey: test.image,
					olmv1.PackageNameKey: "greeter-operator"}}))(t)
			meta.SetStatusCondition(&r.Set.Status.Conditions, olmv1.NewCondition(olmv1.TypeSucceeded, "True", "Succeeded", ""))
			objects := []client.Object{r.Set, e.DeepCopy(), namespace()}
			for _, s := range r.Secrets {
				objects = append(objects, s)
			}
			plan, text := planned(t, planner(t, objects...), e)
			if plan.Permissions == "" || plan.Wanted.Bundle != plan.Installed.Bundle {
				t.Fatalf("%+v", plan)
			}
			if waits := strings.Contains(strings.Join(plan.Blocked, "\n"), "added permissions"); waits != test.waits {
				t.Errorf("it is told that the upgrade waits: %t\n%s", waits, text)
			}
		})
	}
}
