package installplan

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/examples"
	"fairlead.dev/fairlead/internal/content/bundleio"
	"fairlead.dev/fairlead/internal/content/catalogstore"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// signedWorld is a world with a registry, whose images have to satisfy policies.
type signedWorld struct {
	*world
	t        *testing.T
	host     string
	policy   string       // file
	files    string       // its directory
	closed   atomic.Bool  // the registry answers no request until it is opened
	requests atomic.Int64 // to the registry
	notify   *Notifier
	queue    workqueue.TypedRateLimitingInterface[reconcile.Request] // what the notifier enqueues
}

func newSignedWorld(t *testing.T, policyJSON bool, names ...string) *signedWorld {
	t.Helper()
	w := &signedWorld{t: t, files: t.TempDir()}
	w.policy = filepath.Join(w.files, "policy.yaml")
	handler := image.NewRegistry("")
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, q *http.Request) {
		w.requests.Add(1)
		for w.closed.Load() && q.Context().Err() == nil {
			time.Sleep(time.Millisecond)
		}
		handler.ServeHTTP(answer, q)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { w.closed.Store(false) })
	w.host = strings.TrimPrefix(server.URL, "http://")
	config := signature.Config{Policy: w.policy}
	if policyJSON {
		config = signature.Config{Containers: w.policy}
	}
	contents := must.Value(image.Open(t.TempDir(), image.Config{Verifier: signature.New(config)}))(t)
	source := catalogSource("ns", "cat", 0)
	source.Spec.SourceType, source.Spec.Image = v1alpha1.SourceTypeGrpc, w.host+"/catalogs/cat:v1"
	w.world = newWorld(t, handMade("Manual", names...), source)
	w.notify, w.queue = &Notifier{search: w.watcher().plans}, workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(w.queue.ShutDown)
	must.NoError(t, w.notify.news.Start(context.WithoutCancel(t.Context()), w.queue))
	unpacker := bundleio.NewUnpacker(contents, clock.RealClock{}, w.notify.BundleArrived)
	bundles := Images{Unpacker: unpacker, Verifier: contents, Reader: w, Catalogs: w.controller.Catalogs, GlobalNamespace: "olm"}
	w.controller.Unpacker, w.controller.Bundles, w.controller.Signatures = unpacker, bundles, bundles
	return w
}

// require writes the policy.
func (w *signedWorld) require(text string) {
	w.t.Helper()
	if err := os.WriteFile(w.policy, []byte(strings.ReplaceAll(text, "HOST", w.host)), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

const (
	signedCatalogs = `{"version": 1, "default": "reject", "rules": [{"scope": "HOST/catalogs", "action": "verify", "signers": [{"keys": [{"file": "signing.pub"}]}]}]}`
	nothing        = `{"version": 1, "default": "reject"}`
	everything     = `{"version": 1, "default": "accept"}`
)

// sign signs a digest with the key of the policy.
func (w *signedWorld) sign(ref, digest string) {
	w.t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		w.t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		w.t.Fatal(err)
	}
	key, err := signature.ParseKey(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.files, "signing.pub"), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := signature.Sign(w.t.Context(), ref, digest, key, image.PushOptions{}); err != nil {
		w.t.Fatal(err)
	}
}

// catalog pushes a catalog of offers to the registry, signs it, and publishes it as it was read; of no image where ref is empty.
func (w *signedWorld) catalog(ref string, offers ...offer) {
	w.t.Helper()
	files := fstest.MapFS{"configs/catalog.yaml": {Data: []byte(catalogText(offers))}}
	digest, err := image.Push(w.t.Context(), w.host+"/catalogs/cat:v1", files, image.CatalogLabels(), image.PushOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.sign(w.host+"/catalogs/cat:v1", digest)
	w.publish(ref, digest, offers...)
}

// publish serves a catalog of offers as one that was read from an image of that digest.
func (w *signedWorld) publish(ref, digest string, offers ...offer) {
	w.t.Helper()
	files := fstest.MapFS{"catalog.yaml": {Data: []byte(catalogText(offers))}}
	c, err := catalog.Load(w.t.Context(), files, catalog.LoadOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	x, err := catalog.NewIndex(c, digest)
	if err != nil {
		w.t.Fatal(err)
	}
	w.controller.Catalogs.Publish(catalog.Ref{Namespace: "ns", Name: "cat"}, catalogstore.Entry{Index: x, Image: ref})
}

// greeter pushes a bundle of the examples, and returns the offer of it by tag and its digest.
func (w *signedWorld) greeter(tag, version string) (offer, string) {
	w.t.Helper()
	ref := w.host + "/bundles/greeter:" + tag
	return offer{pkg: "greeter-operator", version: version, image: ref}, w.pushGreeter(ref, version, func(text string) string { return text })
}

// pushGreeter pushes a bundle of the examples with changed texts, and returns its digest.
func (w *signedWorld) pushGreeter(ref, version string, change func(string) string) string {
	w.t.Helper()
	tree, err := fs.Sub(examples.Bundles, "bundles/greeter-operator/"+version)
	if err != nil {
		w.t.Fatal(err)
	}
	changed := fstest.MapFS{}
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		changed[name] = &fstest.MapFile{Data: []byte(change(string(text)))}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	digest, err := image.Push(w.t.Context(), ref, changed, image.BundleLabels("greeter-operator", []string{"stable"}, "stable"), image.PushOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	return digest
}

// approve approves the plan, and then changes its status.
func (w *signedWorld) approve(change func(*v1alpha1.InstallPlanStatus)) {
	w.t.Helper()
	p := w.plan(w.t, "plan")
	p.Spec.Approved = true
	if err := w.Inner.Update(w.t.Context(), p); err != nil {
		w.t.Fatal(err)
	}
	if change != nil {
		p = w.plan(w.t, "plan")
		change(&p.Status)
		if err := w.Inner.Status().Update(w.t.Context(), p); err != nil {
			w.t.Fatal(err)
		}
	}
	w.Taken()
}

// settled looks at the plan until a condition of its first lookup, or its phase, is as wanted.
func (w *signedWorld) settled(want func(p *v1alpha1.InstallPlan) bool) *v1alpha1.InstallPlan {
	w.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		p := w.settle(w.t, time.Second)
		if want(p) {
			return p
		}
		if time.Now().After(end) {
			w.t.Fatalf("%s: %s; %+v", p.Status.Phase, p.Status.Message, p.Status.BundleLookups)
		}
	}
}

func complete(p *v1alpha1.InstallPlan) bool {
	return p.Status.Phase == v1alpha1.InstallPlanPhaseComplete
}

func waitsForApproval(p *v1alpha1.InstallPlan) bool {
	return p.Status.Phase == v1alpha1.InstallPlanPhaseRequiresApproval
}

// judged reports whether the signature of the first bundle has a status.
func judged(p *v1alpha1.InstallPlan, status corev1.ConditionStatus) bool {
	return len(p.Status.BundleLookups) > 0 && p.Status.BundleLookups[0].GetCondition(v1alpha1.BundleLookupSignatureVerified).Status == status
}

// written are the writes of anything but the plan.
func (w *signedWorld) written() []string {
	return slices.DeleteFunc(w.Taken(), func(s string) bool { return s == reported })
}

// TestCatalogOfAPlanIsVerifiedAgain: a plan whose bundles are in the image of a catalog waits for approval while the policy is tightened.
func TestCatalogOfAPlanIsVerifiedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		address bool // the catalog is not read from an image
		change  func(*v1alpha1.InstallPlanStatus)
		policy  string
		status  corev1.ConditionStatus // while it is kept from being carried out; empty when it is carried out
		says    string
	}{
		"still accepted": {policy: signedCatalogs},
		"tightened":      {policy: nothing, status: corev1.ConditionFalse, says: "no rule is for its repository"},
		"cannot be read": {policy: "{", status: corev1.ConditionFalse, says: "cannot be used"},
		"nothing recorded": {policy: signedCatalogs, status: corev1.ConditionUnknown, says: "it is not recorded which image of CatalogSource ns/cat it came from; delete the InstallPlan",
			change: func(s *v1alpha1.InstallPlanStatus) { s.BundleLookups[0].Properties = "{}" }},
		"no lookups": {policy: signedCatalogs, status: "no lookups", says: "it is not recorded which image of CatalogSource ns/cat it came from",
			change: func(s *v1alpha1.InstallPlanStatus) { s.BundleLookups = nil }},
		"of no catalog": {policy: signedCatalogs, status: "no lookups", says: "nothing says which catalog it came from",
			change: func(s *v1alpha1.InstallPlanStatus) {
				s.BundleLookups = nil
				for _, step := range s.Plan {
					step.Resource.CatalogSource, step.Resource.CatalogSourceNamespace = "", ""
				}
			}},
		"of a catalog out of view": {policy: signedCatalogs, status: "no lookups", says: "CatalogSource elsewhere/cat, which it is said to come from, is not in view of namespace ns",
			change: func(s *v1alpha1.InstallPlanStatus) {
				s.BundleLookups = nil
				for _, step := range s.Plan {
					step.Resource.CatalogSourceNamespace = "elsewhere"
				}
			}},
		"another digest": {policy: signedCatalogs, status: corev1.ConditionFalse, says: "there is no signature",
			change: func(s *v1alpha1.InstallPlanStatus) {
				text := s.BundleLookups[0].Properties
				i := strings.Index(text, "sha256:") + len("sha256:")
				s.BundleLookups[0].Properties = text[:i] + strings.Repeat("0", 64) + text[i+64:]
			}},
		"a catalog without signatures": {address: true, policy: nothing},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSignedWorld(t, false, "lone.v1.0.0")
			w.require(signedCatalogs)
			if err := w.Create(t.Context(), catalogSource("elsewhere", "cat", 0)); err != nil { // has no image, so that nothing of it could be signed
				t.Fatal(err)
			}
			ref := w.host + "/catalogs/cat:v1"
			if test.address {
				ref = ""
			}
			w.catalog(ref, lone)
			w.settled(waitsForApproval)
			w.require(test.policy)
			w.approve(test.change)
			if test.status != "" {
				p := w.settled(func(p *v1alpha1.InstallPlan) bool {
					return judged(p, test.status) || test.status == "no lookups" && strings.Contains(p.Status.Message, test.says)
				})
				must.Equal(t, p.Status.Message, p.Status.Phase, v1alpha1.InstallPlanPhaseInstalling)
				must.Contain(t, "message", p.Status.Message, test.says)
				must.Empty(t, "writes", w.written())
				if test.change != nil {
					return
				}
				w.require(signedCatalogs)
			}
			p := w.settled(complete)
			must.Equal(t, "judged", !judged(p, corev1.ConditionTrue), test.address)
		})
	}
}

// TestVerificationKeepsNoWorker: while a registry is silent the pass ends and reports that, and the plan continues when the answer arrives.
func TestVerificationKeepsNoWorker(t *testing.T) {
	w := newSignedWorld(t, false, "lone.v1.0.0")
	w.require(everything)
	w.catalog(w.host+"/catalogs/cat:v1", lone)
	w.settled(waitsForApproval)
	w.require(signedCatalogs)
	w.approve(nil)
	w.closed.Store(true)
	begin := time.Now()
	for range 2 {
		must.Value(w.reconcile(t))(t)
	}
	if took := time.Since(begin); took > 4*patience {
		t.Errorf("two passes took %s", took)
	}
	p := w.plan(t, "plan")
	if p.Status.Message != "waiting: the signatures of bundle lone.v1.0.0 are being verified" || !concernsCatalogs(p) || len(w.written()) > 0 {
		t.Errorf("%s: %s; writes %v", p.Status.Phase, p.Status.Message, w.Taken())
	}
	for w.queue.Len() > 0 { // what came of reading the catalog
		r, _ := w.queue.Get()
		w.queue.Done(r)
	}
	w.closed.Store(false)
	for end := time.Now().Add(10 * time.Second); !complete(w.plan(t, "plan")); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the notifier does not enqueue the plan")
		}
		if w.queue.Len() == 0 {
			continue
		}
		r, _ := w.queue.Get()
		w.queue.Done(r)
		must.Value(w.controller.Reconcile(t.Context(), r))(t)
		for range 5 { // events of the plan itself
			must.Value(w.reconcile(t))(t)
		}
	}
}

// judgedBefore is what decides on plans, after something has happened once.
type judgedBefore struct {
	Signatures
	happens func()
}

func (j *judgedBefore) Verify(ctx context.Context, namespace string, lookups []v1alpha1.BundleLookup) []bundleio.State {
	if j.happens != nil {
		j.happens()
		j.happens = nil
	}
	return j.Signatures.Verify(ctx, namespace, lookups)
}

// TestTagOfAPlanIsPinned: other implementations write tags into plans. What is verified once is what counts from then on, also for manifests that
// the pass has read before the tag was moved.
func TestTagOfAPlanIsPinned(t *testing.T) {
	for name, moved := range map[string]bool{"the tag stays": false, "the tag is moved between use and judgement": true} {
		t.Run(name, func(t *testing.T) {
			w := newSignedWorld(t, false, "greeter-operator.v1.0.0")
			w.require(everything)
			o, digest := w.greeter("v1", "1.0.0")
			w.catalog(w.host+"/catalogs/cat:v1", o)
			w.settled(waitsForApproval)
			w.sign(w.host+"/bundles/greeter:v1", digest)
			w.require(strings.Replace(signedCatalogs, "HOST/catalogs", "HOST/bundles", 1))
			w.approve(func(s *v1alpha1.InstallPlanStatus) {
				s.BundleLookups[0].Path, s.BundleLookups[0].Properties = o.image, `{"properties":[{"type":"x","value":1}]}`
				for i, step := range s.Plan {
					step.Resource.Manifest = fmt.Sprintf("ref:lost-%d", i)
				}
			})
			if moved {
				w.controller.Signatures = &judgedBefore{w.controller.Signatures, func() {
					digest = w.pushGreeter(o.image, "1.0.0", func(csv string) string { return strings.Replace(csv, "displayName:", "displayName: Moved #", 1) })
					w.sign(o.image, digest)
				}}
			}
			p := w.settled(complete)
			l := p.Status.BundleLookups[0]
			if l.Path != w.host+"/bundles/greeter@"+digest || !strings.Contains(l.Properties, `"requested":"`+o.image+`"`) || !strings.Contains(l.Properties, `{"type":"x","value":1}`) {
				t.Errorf("the plan has %s, %s", l.Path, l.Properties)
			}
			csv := &v1alpha1.ClusterServiceVersion{}
			if w.get(t, csv, "ns", "greeter-operator.v1.0.0"); (csv.Spec.DisplayName == "Moved") != moved {
				t.Errorf("%s is installed, which is not what the plan was verified with", csv.Spec.DisplayName)
			}
		})
	}
}

// TestRejectedTagIsNotResolved: what the policy rejects by its repository costs no request.
func TestRejectedTagIsNotResolved(t *testing.T) {
	w := newSignedWorld(t, false, "greeter-operator.v1.0.0")
	w.require(everything)
	o, _ := w.greeter("v1", "1.0.0")
	w.catalog(w.host+"/catalogs/cat:v1", o)
	w.settled(waitsForApproval)
	w.require(nothing)
	w.approve(func(s *v1alpha1.InstallPlanStatus) { s.BundleLookups[0].Path = o.image })
	before := w.requests.Load()
	w.settled(func(p *v1alpha1.InstallPlan) bool { return judged(p, corev1.ConditionFalse) })
	if n := w.requests.Load() - before; n > 0 {
		t.Errorf("%d requests for an image whose repository is rejected", n)
	}
}

// TestWhatHasBegunIsFinished: an object that an earlier pass has created, or made the API server learn of, is not left half installed when the policy
// is tightened. What is present may have been there before.
func TestWhatHasBegunIsFinished(t *testing.T) {
	for status, begun := range map[v1alpha1.StepStatus]bool{
		v1alpha1.StepStatusCreated: true, v1alpha1.StepStatusWaitingForAPI: true, v1alpha1.StepStatusPresent: false, v1alpha1.StepStatusUnknown: false,
	} {
		t.Run(string(status), func(t *testing.T) {
			thing := offer{pkg: "thing", version: "1.0.0", owns: "Thing"}
			w := newSignedWorld(t, false, thing.name())
			w.require(everything)
			w.catalog(w.host+"/catalogs/cat:v1", thing)
			w.settled(waitsForApproval)
			w.require(nothing)
			w.approve(func(s *v1alpha1.InstallPlanStatus) {
				s.Phase, s.StartTime = v1alpha1.InstallPlanPhaseInstalling, at(0)
				for _, step := range s.Plan {
					if step.Resource.Kind == crdKind {
						step.Status = status
					}
				}
			})
			if !begun {
				w.settled(func(p *v1alpha1.InstallPlan) bool { return judged(p, corev1.ConditionFalse) })
				must.Empty(t, "writes", w.written())
				return
			}
			w.settled(complete)
			if !w.get(t, &v1alpha1.ClusterServiceVersion{}, "ns", thing.name()) {
				t.Error("the operator is not installed")
			}
		})
	}
}

// TestARefusedPlanHasNotBegun: another plan may take its place, until it reports that it begins. When no policy applies any more, it reports no signature.
func TestARefusedPlanHasNotBegun(t *testing.T) {
	for name, test := range map[string]struct {
		accept func(w *signedWorld)
		status corev1.ConditionStatus // of the condition at the end; Unknown where there is none
	}{
		"the policy accepts it again": {func(w *signedWorld) { w.require(signedCatalogs) }, corev1.ConditionTrue},
		"no policy is configured":     {func(w *signedWorld) { w.controller.Signatures = Images{} }, corev1.ConditionUnknown},
		"nothing verifies":            {func(w *signedWorld) { w.controller.Signatures = nil }, corev1.ConditionUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSignedWorld(t, false, "lone.v1.0.0")
			w.require(everything)
			w.catalog(w.host+"/catalogs/cat:v1", lone)
			w.settled(waitsForApproval)
			w.require(nothing)
			w.approve(func(s *v1alpha1.InstallPlanStatus) { // as after a pass in which it was being verified
				s.Phase, s.StartTime = v1alpha1.InstallPlanPhaseInstalling, at(0)
			})
			p := w.settled(func(p *v1alpha1.InstallPlan) bool { return judged(p, corev1.ConditionFalse) })
			reason := p.Status.GetCondition(v1alpha1.InstallPlanInstalled).Reason
			if p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling || p.Status.StartTime != nil || reason != v1alpha1.InstallPlanReasonInstallCheckFailed ||
				!strings.Contains(p.Status.Message, "add a rule for its repository to the policy") {
				t.Errorf("%s since %v, %s: %s", p.Status.Phase, p.Status.StartTime, reason, p.Status.Message)
			}
			w.Taken()
			for range 3 {
				result, err := w.reconcile(t)
				if err != nil || result.RequeueAfter == 0 {
					t.Errorf("it is verified again after %s: %v", result.RequeueAfter, err)
				}
			}
			must.Empty(t, "while nothing changes it writes", w.Taken())
			test.accept(w)
			for end := time.Now().Add(20 * time.Second); p.Status.StartTime == nil && time.Now().Before(end); p = w.plan(t, "plan") {
				must.Value(w.reconcile(t))(t)
			}
			must.Empty(t, "before it is written down that it begins there are writes", w.written())
			if p = w.settled(complete); p.Status.BundleLookups[0].GetCondition(v1alpha1.BundleLookupSignatureVerified).Status != test.status {
				t.Errorf("%+v", p.Status.BundleLookups[0].Conditions)
			}
		})
	}
}

// TestALongRefusalIsWrittenOnce: a message that has no room in the status is shortened in the same way each time.
func TestALongRefusalIsWrittenOnce(t *testing.T) {
	for name, text := range map[string]string{"of ASCII": strings.Repeat("x", 3*maxMessage), "of other characters": "x" + strings.Repeat("é", 2*maxMessage)} {
		s := &planStatus{BundleLookups: []v1alpha1.BundleLookup{{Identifier: "op.v1"}}}
		report := func(minute int) planStatus {
			now := *at(time.Duration(minute) * time.Minute)
			setInstalled(s, v1alpha1.NewInstallPlanFailed(v1alpha1.InstallPlanInstalled, v1alpha1.InstallPlanReasonInstallCheckFailed, text), now.Time)
			c := v1alpha1.BundleLookupCondition{Type: v1alpha1.BundleLookupSignatureVerified, Status: corev1.ConditionFalse, Message: text}
			setConditions(&s.BundleLookups[0], []v1alpha1.BundleLookupCondition{c}, now, c.Type)
			return bounded(*s)
		}
		first := report(0)
		s = first.DeepCopy()
		must.Equal(t, name+": the same is written again:\n", report(1), first)
	}
}

// TestAFailedPlanIsVerifiedBeforeItIsRetried: it may have failed long ago, with some of its objects created.
func TestAFailedPlanIsVerifiedBeforeItIsRetried(t *testing.T) {
	const why = "create Service ns/web: forbidden"
	thing := offer{pkg: "thing", version: "1.0.0", owns: "Thing"}
	w := newSignedWorld(t, false, thing.name())
	w.require(everything)
	w.catalog(w.host+"/catalogs/cat:v1", thing)
	w.settled(waitsForApproval)
	w.require(signedCatalogs)
	w.approve(func(s *v1alpha1.InstallPlanStatus) {
		s.Phase, s.StartTime, s.Message, s.AttenuatedServiceAccountRef = v1alpha1.InstallPlanPhaseFailed, at(0), why, account
		for _, step := range s.Plan {
			if step.Resource.Kind == crdKind {
				step.Status = v1alpha1.StepStatusCreated
			}
		}
	})
	key := types.NamespacedName{Namespace: "ns", Name: "plan"}
	w.require(nothing)
	w.controller.memory.nudge(key)
	p := w.settled(func(p *v1alpha1.InstallPlan) bool { return judged(p, corev1.ConditionFalse) })
	if p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || !strings.HasPrefix(p.Status.Message, why+notRetried) || len(w.written()) > 0 {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	if result, err := w.reconcile(t); result.RequeueAfter > 0 || err != nil || w.controller.memory.nudged(key) {
		t.Errorf("a plan that is refused is retried by itself: %+v, %v", result, err)
	}
	w.controller.memory.nudge(key)
	w.settle(t, time.Second)
	must.Equal(t, p.Status.Message, w.plan(t, "plan").Status.Message, p.Status.Message)
	// Another group holds it: that must not make it one that has begun.
	group := &operatorsv1.OperatorGroup{}
	group.Namespace, group.Name, group.Status.Namespaces = "ns", "second", []string{""}
	must.NoError(t, w.Create(t.Context(), group))
	w.controller.memory.nudge(key)
	if p = w.settle(t, time.Second); p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling {
		t.Fatalf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	must.NoError(t, w.Inner.Delete(t.Context(), group))
	w.Taken()
	if p = w.settle(t, time.Second); complete(p) || len(w.written()) > 0 {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	w.require(signedCatalogs)
	w.settled(complete)
}

// TestAFailedPlanIsRetriedOnceItIsVerified: while the registry is silent it stays failed, and it is not forgotten that it is to be retried.
func TestAFailedPlanIsRetriedOnceItIsVerified(t *testing.T) {
	w := newSignedWorld(t, false, "lone.v1.0.0")
	w.require(everything)
	w.catalog(w.host+"/catalogs/cat:v1", lone)
	w.settled(waitsForApproval)
	w.require(signedCatalogs)
	w.approve(func(s *v1alpha1.InstallPlanStatus) {
		s.Phase, s.StartTime, s.Message, s.AttenuatedServiceAccountRef = v1alpha1.InstallPlanPhaseFailed, at(0), "forbidden", account
	})
	w.closed.Store(true)
	w.controller.memory.nudge(types.NamespacedName{Namespace: "ns", Name: "plan"})
	for range 2 {
		if result, err := w.reconcile(t); err != nil || result.RequeueAfter == 0 {
			t.Errorf("%+v, %v", result, err)
		}
	}
	if p := w.plan(t, "plan"); p.Status.Phase != v1alpha1.InstallPlanPhaseFailed || p.Status.Message != "forbidden" {
		t.Errorf("%s: %s", p.Status.Phase, p.Status.Message)
	}
	w.closed.Store(false)
	w.settled(complete)
}

// TestAPlanIsCoveredByTheCatalogThatItWasMadeFrom, whatever the catalog names by now; and by what it names now, where that is not accepted any more.
func TestAPlanIsCoveredByTheCatalogThatItWasMadeFrom(t *testing.T) {
	for name, change := range map[string]func(w *signedWorld, o offer){
		"the catalog names it": func(*signedWorld, offer) {},
		"the catalog names it no more": func(w *signedWorld, _ offer) {
			w.publish(w.host+"/catalogs/cat:v1", "sha256:"+strings.Repeat("e", 64), lone)
		},
		"the catalog is withheld": func(w *signedWorld, _ offer) {
			w.controller.Catalogs.Publish(catalog.Ref{Namespace: "ns", Name: "cat"}, catalogstore.Entry{Withheld: true})
		},
		"another key has signed the newer catalog alone": func(w *signedWorld, o offer) { w.catalog(w.host+"/catalogs/cat:v1", o, lone) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newSignedWorld(t, false, "greeter-operator.v1.0.0")
			w.require(everything)
			o, digest := w.greeter("v1", "1.0.0")
			o.image = image.Pin(o.image, digest)
			w.catalog(w.host+"/catalogs/cat:v1", o)
			w.settled(waitsForApproval)
			change(w, o)
			w.require(signedCatalogs)
			w.approve(nil)
			p := w.settled(complete)
			must.Equal(t, "reason", p.Status.BundleLookups[0].GetCondition(v1alpha1.BundleLookupSignatureVerified).Reason, "Covered")
		})
	}
}

// TestABundleIsLookedUpInItsPackage: bundles of several packages may have one name.
func TestABundleIsLookedUpInItsPackage(t *testing.T) {
	content := ""
	for _, pkg := range []string{"a", "b"} {
		content += fmt.Sprintf(`{"schema":"olm.package","name":%[1]q,"defaultChannel":"stable"}
{"schema":"olm.channel","package":%[1]q,"name":"stable","entries":[{"name":"same.v1.0.0"}]}
{"schema":"olm.bundle","package":%[1]q,"name":"same.v1.0.0","image":"quay.io/acme/%[1]s:v1","properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":"1.0.0"}}]}
`, pkg)
	}
	c := must.Value(catalog.Load(t.Context(), fstest.MapFS{"catalog.json": {Data: []byte(content)}}, catalog.LoadOptions{}))(t)
	x := must.Value(catalog.NewIndex(c, "sha256:"+strings.Repeat("c", 64)))(t)
	for pkg, want := range map[string]string{"a": "quay.io/acme/a:v1", "b": "quay.io/acme/b:v1", "gone": "", "": "quay.io/acme/a:v1"} {
		properties := ""
		if pkg != "" {
			properties = fmt.Sprintf(`{"properties":[{"type":"olm.package","value":{"packageName":%q,"version":"1.0.0"}}]}`, pkg)
		}
		got := ""
		if b := bundleOf(x, v1alpha1.BundleLookup{Identifier: "same.v1.0.0", Properties: properties}); b != nil {
			got = b.Image
		}
		must.Equal(t, "of package", got, want)
	}
}

// TestLookupsTolerateWhatIsRecorded: the record is beside the properties that other clients read.
func TestLookupsTolerateWhatIsRecorded(t *testing.T) {
	w := newSignedWorld(t, false, "lone.v1.0.0")
	w.require(everything)
	w.catalog(w.host+"/catalogs/cat:v1", lone)
	lookup := w.settled(waitsForApproval).Status.BundleLookups[0]
	var others struct{ Properties []catalog.Property }
	if err := json.Unmarshal([]byte(lookup.Properties), &others); err != nil || len(others.Properties) == 0 || !strings.Contains(lookup.Properties, w.host+"/catalogs/cat:v1") {
		t.Errorf("%v: %s", err, lookup.Properties)
	}
}

// TestNoVerificationWithoutPullSecrets: what a verification needs and cannot be read keeps the plan from being carried out. It is read again soon.
func TestNoVerificationWithoutPullSecrets(t *testing.T) {
	for name, o := range map[string]offer{"in an image": {pkg: "greeter-operator", version: "1.0.0"}, "in a catalog": lone} {
		t.Run(name, func(t *testing.T) {
			w := newSignedWorld(t, false, o.name())
			var away atomic.Bool // bundles are read meanwhile
			w.Read = func(o client.Object, _ string) error {
				if _, is := o.(*v1alpha1.CatalogSource); is && away.Load() {
					return errors.New("etcd is away")
				}
				return nil
			}
			w.require(everything)
			if o.pkg == "greeter-operator" {
				o, _ = w.greeter("v1", "1.0.0")
			}
			w.catalog(w.host+"/catalogs/cat:v1", o)
			w.settled(waitsForApproval)
			w.require(everything + "\n") // another policy, to be asked
			w.approve(nil)
			away.Store(true)
			p := w.settled(func(p *v1alpha1.InstallPlan) bool { return strings.Contains(p.Status.Message, "etcd is away") })
			if writes := w.written(); len(writes) > 0 || p.Status.Phase != v1alpha1.InstallPlanPhaseInstalling {
				t.Errorf("%s: writes %v", p.Status.Phase, writes)
			}
			away.Store(false)
			w.settled(complete)
		})
	}
}
