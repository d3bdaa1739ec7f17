package subscription

import (
	"context"
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/resolution"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
)

// policy is a signature policy that the test sets.
type policy struct {
	version string
	decide  func(r image.VerifyRequest) (*image.Verification, error)
}

func (p *policy) Configured() bool        { return true }
func (p *policy) Digest() (string, error) { return p.version, nil }
func (p *policy) Verify(_ context.Context, r image.VerifyRequest) (*image.Verification, error) {
	return p.decide(r)
}

func signs(r image.VerifyRequest) (*image.Verification, error) {
	return &image.Verification{Outcome: image.Signed, Ref: r.Ref, Digest: r.Digest, Signers: []image.Signer{{Key: "sha256:k"}}}, nil
}

func refuses(image.VerifyRequest) (*image.Verification, error) {
	return nil, &image.Error{Kind: image.Unverified, Reason: "rule 1 rejects it", Advice: "sign it"}
}

// covers lets bundles pass that a catalog names by digest.
func covers(r image.VerifyRequest) (*image.Verification, error) {
	if r.NamedBy == nil {
		return refuses(r)
	}
	return &image.Verification{Outcome: image.Covered, Ref: r.Ref, Digest: r.Digest, Signers: []image.Signer{{Key: "sha256:k"}}, Catalog: r.NamedBy}, nil
}

const catalogDigest = "sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

// becomes reconciles until the Subscription has a plan, or says that its bundle cannot be had.
func (w *world) becomes(planned bool) *v1alpha1.Subscription {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		w.mustReconcile()
		sub := w.subscription("sub")
		failed := sub.Status.GetCondition(v1alpha1.SubscriptionBundleUnpackFailed).Status == corev1.ConditionTrue
		if planned && len(w.plans()) > 0 || !planned && failed {
			return sub
		}
		if time.Now().After(end) {
			w.t.Fatalf("%+v", sub.Status.Conditions)
		}
	}
}

// TestBundlesNeedTheirSignatures: what the policy refuses is in no plan, and the Subscription says why. The plan records who signed, and what it
// was made of.
func TestBundlesNeedTheirSignatures(t *testing.T) {
	server := httptest.NewServer(image.NewRegistry(""))
	t.Cleanup(server.Close)
	tree := must.Value(fs.Sub(examples.Bundles, "bundles/greeter-operator/1.0.0"))(t)
	tag := strings.TrimPrefix(server.URL, "http://") + "/greeter:v1"
	digest := must.Value(image.Push(t.Context(), tag, tree, image.BundleLabels("greeter-operator", []string{"stable"}, "stable"), image.PushOptions{}))(t)
	const from = "quay.io/acme/catalog:v1"
	inside := pkg("a", "A", "", "1.0.0")
	greeter := func(ref string) string {
		text, _, _ := strings.Cut(strings.ReplaceAll(pkg("greeter-operator", "", "", "1.0.0"), `image: ""`, "image: "+ref), "- type: olm.bundle.object")
		return text
	}
	for name, test := range map[string]struct {
		pkg, content, from string
		decide             func(image.VerifyRequest) (*image.Verification, error)
		refused            string // what is said of a bundle that is refused
		status             corev1.ConditionStatus
		origin             *resolution.BundleOrigin
	}{
		"by tag, unsigned":         {"greeter-operator", greeter(tag), from, covers, "rule 1 rejects it", "", nil},
		"by tag, signed":           {"greeter-operator", greeter(tag), from, signs, "", corev1.ConditionTrue, &resolution.BundleOrigin{Requested: tag}},
		"by digest, covered":       {"greeter-operator", greeter(image.Pin(tag, digest)), from, covers, "", corev1.ConditionTrue, &resolution.BundleOrigin{Catalog: &image.Origin{Ref: from, Digest: catalogDigest}}},
		"by digest, of no image":   {"greeter-operator", greeter(image.Pin(tag, digest)), "", covers, "rule 1 rejects it", "", nil},
		"in a signed catalog":      {"a", inside, from, signs, "", corev1.ConditionTrue, &resolution.BundleOrigin{Catalog: &image.Origin{Ref: from, Digest: catalogDigest}}},
		"in a catalog unsigned":    {"a", inside, from, refuses, "rule 1 rejects it", "", nil},
		"in a catalog of no image": {"a", inside, "", refuses, "", corev1.ConditionUnknown, &resolution.BundleOrigin{Catalog: &image.Origin{Digest: catalogDigest}}},
	} {
		t.Run(name, func(t *testing.T) {
			// A world whose bundles have to satisfy a policy, and whose catalog was read from the image that from names.
			p := &policy{"1", test.decide}
			w := newWorld(t, operatorGroup("og"), catalogSource("cat"), subscribe("sub", test.pkg, v1alpha1.ApprovalManual))
			store := must.Value(image.Open(t.TempDir(), image.Config{Verifier: p}))(t)
			w.controller.Clock = clock.RealClock{}
			w.controller.Unpacker = bundleio.NewUnpacker(store, clock.RealClock{}, func() {})
			c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(test.content)}}, catalog.LoadOptions{}))(t)
			x := must.Value(catalog.NewIndex(c, catalogDigest))(t)
			w.publish("cat", catalogstore.Entry{Index: x, Image: test.from})
			sub := w.becomes(test.refused == "")
			if test.refused != "" {
				if c := sub.Status.GetCondition(v1alpha1.SubscriptionBundleUnpackFailed); !strings.Contains(c.Message, test.refused) || len(w.plans()) > 0 {
					t.Errorf("%s; %d plans", c.Message, len(w.plans()))
				}
				return
			}
			lookup := w.onlyPlan().Status.BundleLookups[0]
			must.Equal(t, "plan", lookup.GetCondition(v1alpha1.BundleLookupSignatureVerified).Status, test.status)
			must.Equal(t, "origin", resolution.OriginOf(lookup), test.origin)
			if test.pkg != "a" && lookup.Path != image.Pin(tag, digest) {
				t.Errorf("the path is %s", lookup.Path)
			}
		})
	}
}
