package attack

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestATightenedPolicyHoldsForWhatIsServed: a key was stolen, and the administrator takes it out of the policy. The catalog that it has signed,
// which is not even polled, was served for long. It must not be served on, nor under a policy that cannot be read; and it comes back with
// the policy.
func TestATightenedPolicyHoldsForWhatIsServed(t *testing.T) {
	w := newWorld(t)
	namespace := w.namespace("attack-tightened")
	ref := w.registry + "/attack-tightened/catalog:v1"
	key, policy := newSigner(t, w.registry+"/attack-tightened")
	digest := harness.Push(t, ref, packageNamed("good"), image.CatalogLabels())
	must.NoError(t, signature.Sign(t.Context(), ref, digest, key, image.PushOptions{}))
	defer w.run(verifying(policy))()
	source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "catalog"},
		Spec: v1alpha1.CatalogSourceSpec{SourceType: v1alpha1.SourceTypeGrpc, Image: ref}}
	harness.Create(t, w, source)
	w.verified(source, metav1.ConditionTrue, "signed by key sha256:")
	w.serves(namespace, "good")

	good := must.Value(os.ReadFile(policy))(t)
	for _, step := range []struct {
		policy string
		status metav1.ConditionStatus
		says   string
	}{
		{`{"version": 1, "default": "reject", "rules": []}`, metav1.ConditionFalse, policy},
		{string(good), metav1.ConditionTrue, "signed by key sha256:"},
		{`{"version": 1, "default": `, metav1.ConditionFalse, policy},
		{string(good), metav1.ConditionTrue, "signed by key sha256:"},
	} {
		must.NoError(t, os.WriteFile(policy, []byte(step.policy), 0o600))
		w.verified(source, step.status, step.says)
		if step.status == metav1.ConditionTrue {
			w.serves(namespace, "good")
		} else {
			w.serves(namespace)
		}
	}
}

// verified waits until a CatalogSource reports a status of its signature, with a text.
func (w *world) verified(source *v1alpha1.CatalogSource, status metav1.ConditionStatus, text string) {
	w.t.Helper()
	harness.Await(w.t, w, client.ObjectKeyFromObject(source), source, fmt.Sprintf("SignatureVerified to be %s with %q", status, text), func() error {
		c := meta.FindStatusCondition(source.Status.Conditions, v1alpha1.CatalogSourceSignatureVerified)
		if c == nil || c.Status != status || !strings.Contains(c.Message, text) {
			return fmt.Errorf("it is %+v", c)
		}
		return nil
	})
}
