package clusterobjectset

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"

	"fairlead.dev/fairlead/test/must"
)

// referring is a world with a set whose only object is in a Secret that a user made.
func referring(t *testing.T, immutable bool) *world {
	t.Helper()
	w := newWorld(t, userSecret("1", immutable))
	set := newSet("mine", 1)
	set.Labels = nil
	set.Spec.LifecycleState, set.Spec.CollisionProtection = olmv1.LifecycleStateActive, olmv1.CollisionProtectionPrevent
	set.Spec.Phases = []olmv1.ClusterObjectSetPhase{{Name: "first", Objects: []olmv1.ClusterObjectSetObject{{Ref: &olmv1.ObjectSourceRef{Name: "objects", Key: "config"}}}}}
	must.NoError(t, w.Inner.Create(t.Context(), set))
	w.settle()
	return w
}

func userSecret(value string, immutable bool) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "objects"}, Type: olmv1.SecretTypeObjectData, Immutable: &immutable,
		Data: map[string][]byte{"config": []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"ns","name":"config"},"data":{"key":"` + value + `"}}`)},
	}
}

func TestMutableSecretsBlock(t *testing.T) {
	w := referring(t, false)
	w.expect("mine", "Progressing=False/Blocked", "olm/objects", "immutable")
	if got := w.objects(); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// TestBlockedIsLookedAtAgain: no event tells of Secrets of another type than that of contents.
func TestBlockedIsLookedAtAgain(t *testing.T) {
	w := referring(t, false)
	if result, err := w.pass("mine"); err != nil || result.RequeueAfter != progressRetry {
		t.Errorf("%v %v, want another pass after %v", result, err, progressRetry)
	}
	must.NoError(t, w.Inner.Delete(t.Context(), userSecret("", true)))
	secret := userSecret("1", true)
	secret.Type = corev1.SecretTypeOpaque
	must.NoError(t, w.Inner.Create(t.Context(), secret))
	w.settle()
	w.expect("mine", "Progressing=True/Succeeded")
}

// TestChangedContentBlocks, told as soon as the Secret is there, and until it is as it was.
func TestChangedContentBlocks(t *testing.T) {
	w := referring(t, true)
	w.expect("mine", "Progressing=True/Succeeded")
	digest := w.set("mine").Status.ObservedPhases[0].Digest
	replaced := 0
	replace := func(value string) {
		t.Helper()
		replaced++
		must.NoError(t, w.Inner.Delete(t.Context(), userSecret("", true)))
		secret := userSecret(value, true)
		must.NoError(t, w.Inner.Create(t.Context(), secret))
		for i := range replaced { // the fake server begins with the same version again
			secret.Annotations = map[string]string{"touched": fmt.Sprint(i)}
			must.NoError(t, w.Inner.Update(t.Context(), secret))
		}
		w.settle()
	}
	replace("2")
	w.expect("mine", "Progressing=False/Blocked", `resolved content of 1 phase(s) has changed: phase "first"`, digest)
	w.expect("mine", "Available=Unknown/Reconciling")
	if got := w.objects()[0]; got != "ConfigMap/config@1 of mine" {
		t.Errorf("%s", got)
	}
	replace("1")
	w.expect("mine", "Progressing=True/Succeeded")
	w.expect("mine", "Available=True/ProbesSucceeded")
	if got := w.set("mine").Status.ObservedPhases[0].Digest; got != digest {
		t.Errorf("the digest has changed: %s, %s", digest, got)
	}
}

// TestDuplicates: a set that asks for an object twice is told so, and nothing is written; it could not come to rest.
func TestDuplicates(t *testing.T) {
	w := newWorld(t)
	set := newSet("mine", 1)
	set.Labels, set.Spec.LifecycleState, set.Spec.CollisionProtection = nil, olmv1.LifecycleStateActive, olmv1.CollisionProtectionPrevent
	for i, name := range []string{"first", "second"} {
		set.Spec.Phases = append(set.Spec.Phases, olmv1.ClusterObjectSetPhase{Name: name, Objects: []olmv1.ClusterObjectSetObject{{Object: configMap(t, "config", name[:i+1])}}})
	}
	must.NoError(t, w.Inner.Create(t.Context(), set))
	w.settle()
	w.expect("mine", "Progressing=True/Retrying: ConfigMap ns/config is there twice, in phase first and in phase second")
	if got := w.objects(); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

// TestMissingSecret is told, and waited for.
func TestMissingSecret(t *testing.T) {
	w := referring(t, true)
	must.NoError(t, w.Inner.Delete(t.Context(), userSecret("", true)))
	if _, err := w.pass("mine"); err == nil {
		t.Error("it is not tried again")
	}
	w.expect("mine", "Progressing=True/Retrying", "olm/objects", "not found")
}
