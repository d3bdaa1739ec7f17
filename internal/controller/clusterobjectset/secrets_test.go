package clusterobjectset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/test/must"
)

// foreign is a world with a set that acts as a service account and refers to a Secret of another namespace.
func foreign(t *testing.T, secret client.Object) *world {
	t.Helper()
	w := newWorld(t)
	if secret != nil {
		must.NoError(t, w.Inner.Create(t.Context(), secret))
	}
	w.Authorize = func(_, verb, kind, name string) error {
		if verb != "get" || kind != "Secret" {
			return nil
		}
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, name, errors.New(`User "system:serviceaccount:ns:weak" cannot get resource "secrets"`))
	}
	set := newSet("mine", 1)
	set.OwnerReferences, set.Labels, set.Annotations = nil, nil, map[string]string{revision.ServiceAccountKey: "ns/weak"}
	set.Spec.LifecycleState, set.Spec.CollisionProtection = olmv1.LifecycleStateActive, olmv1.CollisionProtectionPrevent
	set.Spec.Phases = []olmv1.ClusterObjectSetPhase{{Name: "first", Objects: []olmv1.ClusterObjectSetObject{
		{Ref: &olmv1.ObjectSourceRef{Namespace: "bank", Name: "vault", Key: "config"}}}}}
	must.NoError(t, w.Inner.Create(t.Context(), set))
	w.settle()
	return w
}

// vault is a Secret that the account may not read.
func vault(immutable bool) *corev1.Secret {
	s := userSecret("1", immutable)
	s.Namespace, s.Name = "bank", "vault"
	return s
}

// TestSecretsOfOthers: no one learns by a set what is in a Secret that its account may not read, nor whether it is there.
func TestSecretsOfOthers(t *testing.T) {
	said := map[string]bool{}
	for name, secret := range map[string]client.Object{"there": vault(true), "mutable": vault(false), "not there": nil} {
		w := foreign(t, secret)
		got := w.condition("mine", olmv1.TypeProgressing)
		said[got] = true
		must.Contain(t, name, got, `ServiceAccount ns/weak lacks the rule {apiGroups: [""], resources: [secrets], verbs: [get]}`)
		must.Empty(t, name, w.objects())
		w.Authorize = nil
		w.settle()
		if got := w.objects(); name == "there" && !slices.Equal(got, []string{"ConfigMap/config@1 of mine"}) {
			t.Errorf("once the account may read the Secret there is %v", got)
		}
	}
	must.Equal(t, "the words tell of the Secret", len(said), 1)
}

// TestSecretsOfRemovedAccounts: what was read as the account can be removed without it.
func TestSecretsOfRemovedAccounts(t *testing.T) {
	w := foreign(t, vault(true))
	w.Authorize = nil
	w.settle()
	w.accountless = true
	w.restart()
	must.NoError(t, w.Inner.Delete(t.Context(), w.set("mine")))
	w.settle()
	if got := w.objects(); len(got) > 0 || len(w.names()) > 0 {
		t.Errorf("left: %v, %v", got, w.names())
	}
}

// TestChangesReadNoSecrets: what an object is to be is known when a person changes it.
func TestChangesReadNoSecrets(t *testing.T) {
	w := newWorld(t)
	w.revise(options(1, configMap(t, "config", "1"), deployment(t, "op", "op:v1")))
	w.settle()
	w.run("op", true)
	w.settle()
	for range 3 {
		w.taken()
		w.run("op", false)
		w.settle()
		w.run("op", true)
		w.settle()
		if i := slices.IndexFunc(w.reads, func(what string) bool { return strings.HasPrefix(what, "Secret") }); i >= 0 {
			t.Fatalf("a change of the status of a Deployment leads to these reads: %v", w.reads)
		}
	}
	w.expect("ext-1", "Available=True")
	u := w.get("ConfigMap", "config")
	u.Object["data"] = map[string]any{"key": "spoilt"}
	must.NoError(t, w.Inner.Update(t.Context(), u))
	w.settle()
	must.Equal(t, "what is remembered does not heal", w.objects()[0], "ConfigMap/config@1 of ext-1")
}
