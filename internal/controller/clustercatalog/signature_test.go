package clustercatalog

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	policies "fairlead.dev/fairlead/internal/content/signature"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
)

// verifier accepts images by their digest. Its policy is the list of those that it refuses.
type verifier struct {
	mu      sync.Mutex
	refused []string
	onCall  func()
}

// refuse changes the policy.
func (v *verifier) refuse(digests ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.refused = digests
}

func (v *verifier) Policy() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return fmt.Sprintf("refuses %v", v.refused)
}

func (v *verifier) Verifies() bool { return true }

func (v *verifier) Verify(_ context.Context, ref string, o image.VerifyOptions) (*image.Verification, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.onCall != nil {
		defer v.onCall()
	}
	if slices.Contains(v.refused, o.Digest) {
		return nil, &image.Error{Kind: image.Unverified, Op: "verify", Ref: ref, Reason: o.Digest + " is refused", Advice: "sign it"}
	}
	return &image.Verification{Outcome: image.Signed, Ref: ref, Digest: o.Digest, Signers: []image.Signer{{Key: "sha256:k"}}}, nil
}

func signature(object *olmv1.ClusterCatalog) string {
	c := meta.FindStatusCondition(object.Status.Conditions, olmv1.TypeSignatureVerified)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason
}

// TestABrokenSecretIsNotReadAllTheTime while the signature policy has changed: attempts are made with back-off, and the content is judged.
func TestABrokenSecretIsNotReadAllTheTime(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "olm", Name: "pull"}, Type: corev1.SecretTypeDockerConfigJson,
		Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}}
	w := newWorld(t, clusterCatalog(repository+":latest", 0), secret)
	v := &verifier{}
	w.c.verifier = v
	if w.settle("cat"); w.served("cat") != digest(1) {
		t.Fatal("nothing is served")
	}
	secret.Data = map[string][]byte{"password": []byte("x")}
	must.NoError(t, w.client.Update(t.Context(), secret))
	v.refuse(digest(7))
	var result ctrl.Result
	for range 8 {
		result = w.settle("cat")
		w.clock.Step(result.RequeueAfter)
	}
	if result.RequeueAfter < 10*time.Second || w.served("cat") != digest(1) {
		t.Errorf("it is tried again after %s; %s is served: %+v", result.RequeueAfter, w.served("cat"), w.get("cat").Status)
	}
	v.refuse(digest(1))
	w.settle("cat")
	must.Equal(t, "refused content is served while the secret is broken", w.served("cat"), "")
}

// TestAPolicyThatChangesDuringARead judges what was read before it is published.
func TestAPolicyThatChangesDuringARead(t *testing.T) {
	w := newWorld(t, clusterCatalog(repository+":latest", 0))
	v := &verifier{}
	v.onCall = func() { v.refused = []string{digest(1)} } // right after it was accepted
	w.c.verifier = v
	w.settle("cat")
	must.Equal(t, "refused content is published", w.served("cat"), "")
	w.clock.Step(time.Second)
	if w.settle("cat"); w.served("cat") != "" || signature(w.get("cat")) != "False Unverified" {
		t.Errorf("%s is served, signature %s", w.served("cat"), signature(w.get("cat")))
	}
}

// TestAPolicyJudgesTheRequestedTag, although the digest is pulled that it stands for.
func TestAPolicyJudgesTheRequestedTag(t *testing.T) {
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	ref := strings.TrimPrefix(server.URL, "http://") + "/catalog:v1"
	const content = `{"schema":"olm.package","name":"a","defaultChannel":"stable"}
{"schema":"olm.channel","package":"a","name":"stable","entries":[{"name":"a.v1.0.0"}]}
{"schema":"olm.bundle","package":"a","name":"a.v1.0.0","image":"registry.example.com/a:v1","properties":[{"type":"olm.package","value":{"packageName":"a","version":"1.0.0"}}]}`
	pushed := must.Value(image.Push(t.Context(), ref, fstest.MapFS{"configs/catalog.json": {Data: []byte(content)}}, image.CatalogLabels(), image.PushOptions{}))(t)
	for name, test := range map[string]struct{ accepts, want string }{
		"that tag":    {ref, "True Accepted"},
		"another tag": {ref + "-other", "False Unverified"},
	} {
		t.Run(name, func(t *testing.T) {
			policy := filepath.Join(t.TempDir(), "policy.json")
			text := fmt.Sprintf(`{"default": [{"type": "reject"}], "transports": {"docker": {%q: [{"type": "insecureAcceptAnything"}]}}}`, test.accepts)
			must.NoError(t, os.WriteFile(policy, []byte(text), 0o600))
			store := must.Value(image.Open(t.TempDir(), image.Config{Verifier: policies.New(policies.Config{Containers: policy})}))(t)
			w := newWorld(t, clusterCatalog(ref, 0))
			w.c.verifier, w.c.images = store, catalogstore.ImageReader{Images: store, Indexes: w.indexes}
			w.settle("cat")
			served := ""
			if test.want == "True Accepted" {
				served = pushed
			}
			if got := w.served("cat"); got != served || signature(w.get("cat")) != test.want {
				t.Errorf("%q is served, signature %s: %+v", got, signature(w.get("cat")), w.get("cat").Status.Conditions)
			}
		})
	}
}
