package clusterobjectset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
)

func accountOptions(w *world) revision.Options {
	o := options(1, configMap(w, "config", "1"), deployment(w, "op", "op:v1"))
	o.ServiceAccount = "installer"
	return o
}

func forbidden(resource, name string) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: resource}, name, errors.New(`User "system:serviceaccount:ns:installer" cannot`))
}

// TestServiceAccount: its objects are written and removed as the account, and what that may not do is told with the rule that it lacks.
func TestServiceAccount(t *testing.T) {
	w := newWorld(t)
	w.Authorize = func(_, verb, _, name string) error {
		if verb != "get" && strings.HasPrefix(name, "op") {
			return forbidden("deployments", "op")
		}
		return nil
	}
	w.revise(accountOptions(w))
	w.settle()
	w.expect("ext-1", "Progressing=True/Retrying: create Deployment ns/op", "cannot",
		`ServiceAccount ns/installer lacks the rule {apiGroups: ["apps"], resources: [deployments], verbs: [create]} of a Role or ClusterRole bound in namespace ns`)
	w.Authorize = nil
	w.settle()
	w.run("op", true)
	w.settle()
	w.expect("ext-1", "Progressing=True/Succeeded")
	for _, want := range []string{"create ConfigMap config as ns/installer", "create Deployment op as ns/installer"} {
		if !slices.Contains(w.Writes(), want) {
			t.Errorf("%q is not among %q", want, w.Writes())
		}
	}
	w.Authorize = func(_, verb, _, _ string) error {
		if verb == "get" {
			return nil
		}
		return forbidden("deployments", "op")
	}
	must.NoError(t, w.Inner.Delete(t.Context(), w.set("ext-1")))
	w.settle()
	w.expect("ext-1", "Progressing=True/Retrying", "2 of 2 objects are left", "verbs: [delete], resourceNames: [op]")
	w.Authorize = nil
	w.settle()
	if got := w.objects(); len(got) > 0 || !slices.Contains(w.Writes(), "delete Deployment op as ns/installer") {
		t.Errorf("%v %v", got, w.Writes())
	}
}

// TestMissingServiceAccount blocks a rollout, but not the removal: no one else is left to clean up after it.
func TestMissingServiceAccount(t *testing.T) {
	w := newWorld(t)
	w.accountless = true
	w.revise(accountOptions(w))
	w.settle()
	w.expect("ext-1", "Progressing=True/Retrying: act as ServiceAccount ns/installer", "not found")
	w.accountless = false
	w.settle()
	w.accountless = true
	must.NoError(t, w.Inner.Delete(t.Context(), w.set("ext-1")))
	w.settle()
	if got := w.objects(); len(got) > 0 || len(w.names()) > 0 {
		t.Errorf("%v %v", got, w.names())
	}
}

// TestMalformedServiceAccount is told.
func TestMalformedServiceAccount(t *testing.T) {
	for _, value := range []string{"installer", "/installer", "ns/", "ns/a/b"} {
		set := newSet("ext-1", 1)
		set.Annotations = map[string]string{revision.ServiceAccountKey: value}
		if _, _, err := accountOf(set); err == nil {
			t.Errorf("%q passes", value)
		}
	}
}
