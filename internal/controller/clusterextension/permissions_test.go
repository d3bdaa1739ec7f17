package clusterextension

import (
	"strings"
	"testing"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/permissions"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// granting is a ClusterRole that lets a service account read a resource, and its binding.
func granting(resource string) []*unstructured.Unstructured {
	object := func(kind string, more map[string]any) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: more}
		u.SetAPIVersion("rbac.authorization.k8s.io/v1")
		u.SetKind(kind)
		u.SetName("op")
		return u
	}
	return []*unstructured.Unstructured{
		object("ClusterRole", map[string]any{"rules": []any{map[string]any{"apiGroups": []any{""}, "resources": []any{resource}, "verbs": []any{"get"}}}}),
		object("ClusterRoleBinding", map[string]any{"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "op"},
			"subjects": []any{map[string]any{"kind": "ServiceAccount", "namespace": "ns", "name": "op"}}}),
	}
}

// TestServiceAccount has to be there and to hold what the objects need; a change of roles leads to another look.
func TestServiceAccount(t *testing.T) {
	ext := want("my", "a", "")
	ext.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: "installer"}
	w := newWorld(t, ext)
	w.serve("cat", pkg("a", "1.0.0"))
	w.pass("my")
	w.expect("my", "Progressing", `True/Retrying: service account "installer" not found in namespace "ns": create it, or take spec.serviceAccount away to install as the manager`)
	w.add(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "installer"}})
	w.pass("my")
	w.expect("my", "Progressing", "True/Retrying: pre-authorization failed: service account requires the following permissions to manage cluster extension:")
	if got := progressOf(w.extension("my")).Message; !strings.Contains(got, `Resources:[configmaps]`) || !strings.Contains(got, `"metadata":{"name":"my-installer"`) || !strings.HasSuffix(got, "' | kubectl auth reconcile -f -") {
		t.Error(got)
	}
	if got := w.controller.interests.forbidden(t.Context(), nil); len(got) != 1 || got[0].Name != "my" {
		t.Errorf("another role wakes %v", got)
	}
	w.add(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}}})
	w.add(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "all"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "all"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "ns", Name: "installer"}}})
	renders := w.renders
	w.settle("my")
	w.expect("my", "Progressing", "True/Succeeded: Desired state reached")
	if w.renders != renders {
		t.Errorf("what was rendered before was rendered %d times again", w.renders-renders)
	}
	must.Equal(t, "the revision is applied as", w.newest("my").Annotations["operators.fairlead.dev/service-account"], "ns/installer")
}

// TestMorePermissions stop an upgrade until a person agrees; whoever names the version has agreed.
func TestMorePermissions(t *testing.T) {
	for name, test := range map[string]struct {
		agree func(*world, string)
		stops bool
	}{
		"nobody":           {func(*world, string) {}, true},
		"by the digest":    {func(w *world, digest string) { w.annotate("my", permissions.AcknowledgedKey, digest) }, false},
		"by another one":   {func(w *world, _ string) { w.annotate("my", permissions.AcknowledgedKey, "sha256:1") }, true},
		"whatever it is":   {func(w *world, _ string) { w.annotate("my", permissions.AcknowledgedKey, "*") }, false},
		"by the version":   {func(w *world, _ string) { w.version("my", "1.1.0") }, false},
		"a range does not": {func(w *world, _ string) { w.version("my", ">=1.1.0") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""))
			w.extra["a.v1.0.0"], w.extra["a.v1.1.0"] = granting("pods"), granting("secrets")
			w.serve("cat", pkg("a", "1.0.0"))
			w.settle("my")
			w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
			w.pass("my")
			w.expect("my", "Progressing", "False/Blocked: a.v1.1.0 asks for permissions that a.v1.0.0 does not have:")
			message := progressOf(w.extension("my")).Message
			_, digest, _ := strings.Cut(message, `to "`)
			digest, _, _ = strings.Cut(digest, `"`)
			if !strings.Contains(message, "secrets") || digest == "" {
				t.Fatal(message)
			}
			test.agree(w, digest)
			w.settle("my")
			must.Equal(t, "stopped", w.installed("my") == "a.v1.0.0", test.stops)
		})
	}
}

// TestMorePermissionsOfTheSameName: another image or another catalog may have something else under the name of the bundle. Only another
// configuration of the same content is no one's matter but that of whoever wrote it.
func TestMorePermissionsOfTheSameName(t *testing.T) {
	image := pkg("a", "1.0.0")
	inline := strings.ReplaceAll(image, "image: quay.io/a:v1.0.0\n", "") + "- type: olm.bundle.object\n  value: {data: eyJraW5kIjoiQ29uZmlnTWFwIn0=}\n"
	for name, test := range map[string]struct {
		before, after string
		change        func(*world)
		stops         bool
	}{
		"another image": {before: image, after: strings.ReplaceAll(image, "quay.io/a:v1.0.0", "quay.io/a:other"), stops: true},
		"another image of exactly the version that is asked for": {before: image, after: strings.ReplaceAll(image, "quay.io/a:v1.0.0", "quay.io/a:other"),
			change: func(w *world) { w.version("my", "1.0.0") }, stops: true},
		"another image, to which somebody agrees": {before: image, after: strings.ReplaceAll(image, "quay.io/a:v1.0.0", "quay.io/a:other"), change: func(w *world) {
			w.version("my", "1.0.0")
			w.pass("my")
			message := progressOf(w.extension("my")).Message
			_, digest, _ := strings.Cut(message, `to "`)
			if strings.Contains(message, "to exactly") {
				w.t.Errorf("it is advised to ask for the version, which does not help: %s", message)
			}
			w.annotate("my", permissions.AcknowledgedKey, strings.TrimRight(digest[:strings.IndexByte(digest, '"')], "\n"))
		}},
		"another catalog's content": {before: inline, after: strings.ReplaceAll(inline, "value: {packageName: a,", "value: { packageName: a,"), stops: true},
		"the configuration":         {before: image, after: image, change: func(w *world) { w.configure("my", `{"a":1}`) }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, want("my", "a", ""))
			w.extra["a.v1.0.0"] = granting("pods")
			w.serve("cat", test.before)
			w.settle("my")
			w.extra["a.v1.0.0"] = granting("secrets")
			w.serve("cat", test.after)
			if test.change != nil {
				test.change(w)
			}
			w.settle("my")
			must.Equal(t, "stopped", len(w.revisions("my")) == 1, test.stops)
		})
	}
}
