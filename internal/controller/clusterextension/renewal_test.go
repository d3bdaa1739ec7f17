package clusterextension

import (
	"strings"
	"testing"
	"time"

	"fairlead.dev/fairlead/test/must"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	v2 "fairlead.dev/fairlead/api/operators/v2"
	"fairlead.dev/fairlead/bundle/registryv1"
	"fairlead.dev/fairlead/internal/rollout/desired"
	"fairlead.dev/fairlead/internal/rollout/revision"
	"fairlead.dev/fairlead/internal/rollout/serving"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// obstacles are what keeps an upgrade, or another configuration, from being made a revision of.
var obstacles = map[string]func(*world){
	"nothing": func(*world) {},
	"the operator cannot be upgraded": func(w *world) {
		w.operatorSays(metav1.ConditionFalse, false)
		w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	},
	"the bundle cannot be had": func(w *world) {
		w.bundles.failed["a.v1.1.0"] = errGone
		w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	},
	"the configuration does not fit":          func(w *world) { w.configure("my", `{"bad":1}`) },
	"the catalog is gone":                     func(w *world) { w.unserve("cat") },
	"the package is gone, another version":    func(w *world) { w.serve("cat", pkg("b", "1.0.0")); w.version("my", "2.0.0") },
	"there is no revision to go back to":      func(w *world) { w.annotate("my", desired.RollbackToKey, "7") },
	"the account that is asked for is weak":   func(w *world) { w.account("nobody") },
	"what the new version needs is not there": func(w *world) { w.serve("cat", pkg("a", "1.0.0", "1.1.0=b")) },
}

func (w *world) account(name string) {
	w.t.Helper()
	w.change("my", func(e *olmv1.ClusterExtension) { e.Spec.ServiceAccount = &olmv1.ServiceAccountReference{Name: name} })
}

// TestRenewalIsNotHeldUp by whatever stands in the way of the desired state: what is installed is repeated, and trusts the next certificate.
func TestRenewalIsNotHeldUp(t *testing.T) {
	for name, obstruct := range obstacles {
		t.Run(name, func(t *testing.T) {
			w := newServingWorld(t)
			w.extra["a.v1.0.0"] = append(w.extra["a.v1.0.0"], conditionFor("one"))
			w.settle("my")
			first, _ := w.shown()
			before := w.newest("my")
			obstruct(w)
			w.settle("my")
			if w.newest("my").Name != before.Name {
				t.Fatalf("nothing is in the way: %v", names(w.revisions("my")))
			}
			said := w.condition("my", "Progressing")
			w.clock.Step(serving.DefaultLife/3*2 + time.Hour)
			for step := range 6 {
				w.controller.fetcher.rendered.Clear() // a new manager continues
				w.pass("my")
				if shown, _ := w.shown(); shown.Check(served.Hosts, w.clock.Now()) != nil {
					t.Fatalf("step %d: what pods show is not trusted: %v", step, shown.Check(served.Hosts, w.clock.Now()))
				}
				if step%2 == 1 {
					w.rollOut("my")
				}
			}
			w.settle("my")
			last, _ := w.shown()
			if string(last.Certificate) == string(first.Certificate) {
				t.Fatalf("the certificate was not renewed; %v", names(w.revisions("my")))
			}
			if err := last.Due(served.Hosts, w.clock.Now()); err != nil {
				t.Errorf("it is due again: %v", err)
			}
			after := w.newest("my")
			must.Equal(t, "renewal made", after.Spec.Revision, 2)
			must.Equal(t, "renewal made", w.installed("my"), "a.v1.0.0")
			if got := w.condition("my", "Progressing"); got != said {
				t.Errorf("what is in the way was told as %q, and is as %q", said, got)
			}
			for key, value := range before.Annotations {
				if got := after.Annotations[key]; got != value && key != authoritiesKey && key != revision.DigestKey {
					t.Errorf("annotation %s was %q and is %q", key, value, got)
				}
			}
		})
	}
}

// TestInstalledIsLookedAfter although there is nothing to install: certificates and the OperatorCondition that get lost come back.
func TestInstalledIsLookedAfter(t *testing.T) {
	for name, obstruct := range obstacles {
		t.Run(name, func(t *testing.T) {
			w := newServingWorld(t)
			w.extra["a.v1.0.0"] = append(w.extra["a.v1.0.0"], conditionFor("one"))
			w.settle("my")
			obstruct(w)
			w.settle("my")
			w.must(w.client.Delete(t.Context(), w.secret()))
			w.must(w.client.Delete(t.Context(), w.operatorCondition()))
			w.pass("my")
			if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "my"}, &v2.OperatorCondition{}); err != nil {
				t.Errorf("the OperatorCondition: %v", err)
			}
			w.rollOut("my")
			shown, _ := w.shown()
			if err := shown.Check(served.Hosts, w.clock.Now()); err != nil {
				t.Errorf("the certificate: %v; %v", err, names(w.revisions("my")))
			}
		})
	}
}

// TestRenewedCertificateWaits until API servers know for a minute what to trust: they hear of it late.
func TestRenewedCertificateWaits(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	first := w.secret().Data["tls.crt"]
	w.clock.Step(serving.DefaultLife/3*2 + time.Hour)
	w.pass("my")
	trusting := w.newest("my")
	w.says(trusting, done...)
	for i := range trusting.Status.Conditions {
		trusting.Status.Conditions[i].LastTransitionTime = metav1.NewTime(w.clock.Now())
	}
	w.must(w.client.Status().Update(t.Context(), trusting))
	w.clock.Step(serving.APIServerDelay - time.Second)
	must.Equal(t, "pods have it at once, or it is looked at again", w.pass("my").RequeueAfter, time.Second)
	must.Equal(t, "pods have it at once, or it is looked at again", string(w.secret().Data["tls.crt"]), string(first))
	w.clock.Step(time.Second)
	if w.pass("my"); string(w.secret().Data["tls.crt"]) == string(first) {
		t.Error("pods do not get it")
	}
}

// TestRenewalKeepsTheAccount that the objects were written as: another one that the spec asks for may not be able to.
func TestRenewalKeepsTheAccount(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	w.account("nobody")
	w.must(w.client.Delete(t.Context(), w.secret()))
	w.pass("my")
	if got := w.newest("my"); got.Spec.Revision != 2 || got.Annotations[revision.ServiceAccountKey] != "" {
		t.Errorf("%v is written as %q", names(w.revisions("my")), got.Annotations[revision.ServiceAccountKey])
	}
}

// TestRenewalOfWhatWasGoneBackTo makes one revision more and no other: it stays what was rolled back to.
func TestRenewalOfWhatWasGoneBackTo(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	w.configure("my", `{"x":1}`)
	w.settle("my")
	w.annotate("my", desired.RollbackToKey, "1")
	w.settle("my")
	w.clock.Step(serving.DefaultLife/3*2 + time.Hour)
	w.settle("my")
	w.settle("my")
	must.Equal(t, "renewal made", w.newest("my").Spec.Revision, 4)
	shown, _ := w.shown()
	if err := shown.Due(served.Hosts, w.clock.Now()); err != nil {
		t.Error(err)
	}
}

// TestRenewalThatFails is no upgrade to go back from.
func TestRenewalThatFails(t *testing.T) {
	w := newServingWorld(t)
	w.annotate("my", revision.OnFailureKey, revision.OnFailureRollback)
	w.settle("my")
	w.clock.Step(serving.DefaultLife/3*2 + time.Hour)
	w.pass("my")
	w.says(w.newest("my"), is("Progressing", olmv1.ReasonProgressDeadlineExceeded, "too long"), is("Available", olmv1.ReasonProbeFailure, "down"))
	w.pass("my")
	w.pass("my")
	if got := w.newest("my"); got.Spec.Revision != 2 || got.Annotations[desired.FailedKey] != "" {
		t.Errorf("it was gone back from: %v %v", names(w.revisions("my")), got.Annotations)
	}
	w.rollOut("my")
	w.settle("my")
	shown, _ := w.shown()
	if err := shown.Due(served.Hosts, w.clock.Now()); err != nil {
		t.Error(err)
	}
}

// TestCertificatesOfBothVersions are looked after while the next one rolls out: the pods of the one before still show theirs.
func TestCertificatesOfBothVersions(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	other := registryv1.Serving{Deployment: "new", Service: "new-service", Secret: "new-service-cert", Hosts: []string{"new-service.ns.svc"}}
	w.serving = []registryv1.Serving{other}
	w.extra["a.v1.1.0"] = []*unstructured.Unstructured{hooked("new-service")}
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	w.pass("my")
	w.says(w.newest("my"), rolling...)
	w.must(w.client.Delete(t.Context(), w.secret()))
	w.pass("my")
	w.secret()
	must.Equal(t, "it made", w.newest("my").Spec.Revision, 2)
	w.clock.Step(2 * young)
	w.settle("my")
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: served.Secret}, &corev1.Secret{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("a certificate that nothing needs any more is kept: %v", err)
	}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: other.Secret}, &corev1.Secret{}); err != nil {
		t.Error(err)
	}
}

// TestNothingIsMadeForWhatIsRefused: as long as a version is not let in, there are no certificates for it, and nothing is written again and again.
func TestNothingIsMadeForWhatIsRefused(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	w.serving = []registryv1.Serving{{Deployment: "new", Service: "new-service", Secret: "new-service-cert", Hosts: []string{"new-service.ns.svc"}}}
	w.account("nobody")
	w.settle("my")
	if w.newest("my").Spec.Revision != 1 {
		t.Fatalf("it was let in: %v", names(w.revisions("my")))
	}
	if err := w.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "new-service-cert"}, &corev1.Secret{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("a Secret was made: %v", err)
	}
}

// TestYoungCertificates stay although nothing seems to need them: the revision that does may be about to be written.
func TestYoungCertificates(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	for _, age := range []time.Duration{young - time.Minute, young + time.Minute} {
		extra := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "extra", Labels: servingLabels("my"), CreationTimestamp: metav1.NewTime(w.clock.Now().Add(-age))}}
		w.must(client.IgnoreAlreadyExists(w.client.Create(t.Context(), extra)))
		w.pass("my")
		err := w.client.Get(t.Context(), client.ObjectKeyFromObject(extra), extra)
		if there := err == nil; there != (age < young) {
			t.Errorf("after %s: %v", age, err)
		}
		_ = w.client.Delete(t.Context(), extra)
	}
}

// TestFightForASecret is told of, and not fought: whoever goes on damaging it must not make revisions without end.
func TestFightForASecret(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	damage := func() {
		w.must(w.client.Delete(t.Context(), w.secret()))
	}
	for range 5 { // the first one was issued before
		damage()
		w.settle("my")
	}
	revisions := w.newest("my").Spec.Revision
	damage()
	_, err := w.controller.Reconcile(t.Context(), requestFor("my"))
	if err == nil || !strings.Contains(err.Error(), "another client") || w.newest("my").Spec.Revision != revisions {
		t.Errorf("it goes on: %v, %v", err, names(w.revisions("my")))
	}
	w.clock.Step(10 * time.Minute)
	w.settle("my")
	shown, _ := w.shown()
	if err := shown.Check(served.Hosts, w.clock.Now()); err != nil {
		t.Error(err)
	}
}

// TestFightForTheStagedCertificate ends as well: pods keep the certificate in use, and Progressing names the cause.
func TestFightForTheStagedCertificate(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	before := w.secret().Data["tls.crt"]
	w.clock.Step(serving.DefaultLife/3*2 + time.Hour)
	strip := func() {
		s := w.secret()
		delete(s.Data, "next.crt")
		w.must(w.client.Update(t.Context(), s))
	}
	for range 6 {
		w.pass("my")
		strip()
	}
	w.pass("my") // trusts what is in use again
	w.rollOut("my")
	_, err := w.controller.Reconcile(t.Context(), requestFor("my"))
	if err == nil || !strings.Contains(err.Error(), "issued 6 times within 10m0s") || string(w.secret().Data["tls.crt"]) != string(before) {
		t.Errorf("it goes on: %v, %v", err, names(w.revisions("my")))
	}
}

// TestBrokenNote on a revision is told, and stops nothing else.
func TestBrokenNote(t *testing.T) {
	w := newServingWorld(t)
	w.settle("my")
	broken := w.newest("my")
	broken.Annotations[servingKey] = "{"
	w.must(w.client.Update(t.Context(), broken))
	w.serve("cat", pkg("a", "1.0.0", "1.1.0"))
	_, err := w.controller.Reconcile(t.Context(), requestFor("my"))
	if err == nil || !strings.Contains(err.Error(), servingKey) || !strings.Contains(w.condition("my", "Progressing"), servingKey) {
		t.Errorf("it is told as %v, %s", err, w.condition("my", "Progressing"))
	}
	must.Equal(t, "the newest revision is", w.newest("my").Annotations[olmv1.BundleVersionKey], "1.1.0")
}
