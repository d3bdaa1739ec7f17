package attack

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
	"fairlead.dev/fairlead/internal/manager"
	"fairlead.dev/fairlead/test/harness"
	"fairlead.dev/fairlead/test/must"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestReplacedCatalogIsNotServed: an attacker with push rights in a registry replaces the catalog under the tag that a CatalogSource polls.
// Without a policy the content of the attacker is served. With one the last good content stays, and the status says why.
func TestReplacedCatalogIsNotServed(t *testing.T) {
	w := newWorld(t)
	for name, required := range map[string]bool{"attack-unsigned": false, "attack-signed": true} {
		t.Run(name, func(t *testing.T) {
			namespace := w.namespace(name)
			ref := w.registry + "/" + name + "/catalog:v1"
			key, policy := newSigner(t, w.registry+"/"+name)
			digest := harness.Push(t, ref, packageNamed("good"), image.CatalogLabels())
			must.NoError(t, signature.Sign(t.Context(), ref, digest, key, image.PushOptions{}))
			stop := w.run(func(o *manager.Options) {
				if required {
					o.Images.Verifier = signature.New(signature.Config{Policy: policy})
				}
			})
			defer stop()
			source := &v1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "catalog"}, Spec: v1alpha1.CatalogSourceSpec{
				SourceType: v1alpha1.SourceTypeGrpc, Image: ref,
				UpdateStrategy: &v1alpha1.UpdateStrategy{RegistryPoll: &v1alpha1.RegistryPoll{Interval: &metav1.Duration{Duration: time.Second}, RawInterval: "1s"}}}}
			harness.Create(t, w, source)
			w.serves(namespace, "good")

			harness.Push(t, ref, packageNamed("evil"), image.CatalogLabels())
			if !required {
				w.serves(namespace, "evil")
				return
			}
			harness.Await(t, w, client.ObjectKeyFromObject(source), source, "the status to name the policy", func() error {
				text, err := json.Marshal(source.Status)
				if err == nil && !strings.Contains(string(text), string(image.Unverified)) {
					err = fmt.Errorf("it is %s", text)
				}
				return err
			})
			w.serves(namespace, "good")
		})
	}
}

// hurried is a clock whose tickers tick ten times as fast: the policy is read every second.
type hurried struct{ clock.RealClock }

// NewTicker implements clock.WithTicker.
func (h hurried) NewTicker(d time.Duration) clock.Ticker { return h.RealClock.NewTicker(d / 10) }

// verifying has a manager verify images by a policy.
func verifying(policy string) func(*manager.Options) {
	return func(o *manager.Options) {
		o.Images.Verifier, o.Clock = signature.New(signature.Config{Policy: policy}), hurried{}
	}
}

// newSigner makes a key, and a policy that requires its signatures for a scope.
func newSigner(t *testing.T, scope string) (key *signature.Key, policy string) {
	t.Helper()
	private := must.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	if key, err = signature.ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil); err != nil {
		t.Fatal(err)
	}
	public := must.Value(x509.MarshalPKIXPublicKey(private.Public()))(t)
	text := must.Value(json.Marshal(map[string]any{"version": 1, "default": "reject", "rules": []any{map[string]any{
		"scope": scope, "action": "verify",
		"signers": []any{map[string]any{"keys": []any{map[string]any{"pem": string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))}}}},
	}}}))(t)
	policy = filepath.Join(t.TempDir(), "policy.json")
	must.NoError(t, os.WriteFile(policy, text, 0o600))
	return key, policy
}

// packageNamed is a catalog of one package.
func packageNamed(name string) map[string]string {
	return map[string]string{"configs/catalog.json": fmt.Sprintf(`{"schema": "olm.package", "name": %[1]q, "defaultChannel": "stable"}
{"schema": "olm.channel", "package": %[1]q, "name": "stable", "entries": [{"name": "%[1]s.v1.0.0"}]}
{"schema": "olm.bundle", "package": %[1]q, "name": "%[1]s.v1.0.0", "image": "registry.example.com/%[1]s@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
 "properties": [{"type": "olm.package", "value": {"packageName": %[1]q, "version": "1.0.0"}}, {"type": "olm.csv.metadata", "value": {"displayName": %[1]q}}]}`, name)}
}

// serves waits until the catalogs of a namespace have the packages, and no others. The API server learns of PackageManifests only some time
// after a manager is ready: it has up to half a minute to read all catalogs first.
func (w *world) serves(namespace string, packages ...string) {
	w.t.Helper()
	registered := &apiregistrationv1.APIService{}
	harness.Await(w.t, w, client.ObjectKey{Name: "v1.packages.operators.coreos.com"}, registered, "the API server to serve PackageManifests", func() error {
		for _, c := range registered.Status.Conditions {
			if c.Type == apiregistrationv1.Available && c.Status == apiregistrationv1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", registered.Status.Conditions)
	})
	must.Eventually(w.t, fmt.Sprintf("packages %q alone to be served", packages), func() error {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: "packages.operators.coreos.com", Version: "v1", Kind: "PackageManifestList"})
		if err := w.List(w.t.Context(), list, client.InNamespace(namespace)); err != nil {
			return err
		}
		var names []string
		for _, item := range list.Items {
			names = append(names, item.GetName())
		}
		if !slices.Equal(names, packages) {
			return fmt.Errorf("served are %q", names)
		}
		return nil
	})
}
