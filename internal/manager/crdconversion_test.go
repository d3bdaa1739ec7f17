package manager

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/internal/devcluster"
	"fairlead.dev/fairlead/test/must"
	"fairlead.dev/fairlead/test/sweep"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// converter is the webhook of an operator, in the place of its pods. A gear has ten times as many teeth in v2, so that one which was not
// converted shows.
type converter struct {
	world   *world
	service string
	asked   atomic.Int64
	server  *httptest.Server
}

// serve answers for the Service of a Deployment with the certificate that is made for it.
func (w *world) serve(deployment string) *converter {
	w.t.Helper()
	c := &converter{world: w, service: bundle.ServingServiceName(deployment)}
	w.eventually("Service "+c.service, func() error {
		return w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: c.service}, &corev1.Service{})
	})
	c.server = httptest.NewUnstartedServer(c)
	c.server.TLS = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		var secret corev1.Secret
		if err := w.client.Get(context.Background(), client.ObjectKey{Namespace: w.namespace, Name: bundle.ServingSecretName(deployment)}, &secret); err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
		return &pair, err
	}}
	c.server.StartTLS()
	w.t.Cleanup(c.server.Close)
	devcluster.Route(w.t, w.namespace+"/"+c.service, c.server.Listener.Addr().String())
	w.t.Cleanup(func() { devcluster.DeleteDefinitions(w.t, w.apiGroup()) })
	return c
}

func (c *converter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var review apiextensionsv1.ConversionReview
	if err := json.NewDecoder(io.LimitReader(r.Body, 8<<20)).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.asked.Add(1)
	review.Response = &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range review.Request.Objects {
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(raw.Raw); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		teeth, _, _ := unstructured.NestedInt64(o.Object, "spec", "teeth")
		if o.GetAPIVersion() != review.Request.DesiredAPIVersion {
			if o.GroupVersionKind().Version == "v1" {
				teeth *= 10
			} else {
				teeth /= 10
			}
			_ = unstructured.SetNestedField(o.Object, teeth, "spec", "teeth")
		}
		o.SetAPIVersion(review.Request.DesiredAPIVersion)
		review.Response.ConvertedObjects = append(review.Response.ConvertedObjects, runtime.RawExtension{Object: o})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// converting makes an operator convert its CRD by a webhook of a Deployment, whose pods are scheduled once their gate is opened.
func (w *world) converting(o operator, group, deployment string, gated bool) operator {
	w.t.Helper()
	csv := map[string]any{}
	if err := json.Unmarshal([]byte(o.files["manifests/csv.json"]), &csv); err != nil {
		w.t.Fatal(err)
	}
	set := func(value any, path ...string) {
		if err := unstructured.SetNestedField(csv, value, path...); err != nil {
			w.t.Fatal(err)
		}
	}
	set([]any{map[string]any{"type": "ConversionWebhook", "generateName": "convert.gears", "deploymentName": deployment, "containerPort": int64(443),
		"conversionCRDs": []any{"gears." + group}, "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "webhookPath": "/convert"}}, "spec", "webhookdefinitions")
	labels := map[string]any{"app": deployment}
	pod := map[string]any{"serviceAccountName": o.pkg, "containers": []any{map[string]any{"name": "operator", "image": "registry.example.com/op:" + o.version}}}
	if gated {
		pod["schedulingGates"] = []any{map[string]any{"name": "example.com/slow"}}
	}
	set([]any{map[string]any{"name": deployment, "spec": map[string]any{"replicas": int64(1), "selector": map[string]any{"matchLabels": labels},
		"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": pod}}}}, "spec", "install", "spec", "deployments")
	o.files["manifests/csv.json"] = text(w, csv)
	return o
}

// user reads and writes gears every 50 ms, through the webhook, and notes what fails.
type user struct {
	mu       sync.Mutex
	requests int
	failures []string
}

func (u *user) note(what string, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.requests++; err != nil {
		u.failures = append(u.failures, fmt.Sprintf("%s %s: %v", time.Now().Format("05.000"), what, err))
	}
}

func (u *user) sofar() (requests, failures int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.requests, len(u.failures)
}

func (u *user) run(ctx context.Context, w *world, group string) {
	gear := func(version string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"teeth": int64(70)}}}
		o.SetAPIVersion(group + "/" + version)
		o.SetKind("Gear")
		o.SetNamespace(w.namespace)
		o.SetName("used")
		return o
	}
	for n := int64(1); ctx.Err() == nil; n++ {
		read := gear("v2")
		err := w.client.Get(context.WithoutCancel(ctx), client.ObjectKeyFromObject(read), read)
		if teeth, _, _ := unstructured.NestedInt64(read.Object, "spec", "teeth"); err == nil && teeth != 70 {
			err = fmt.Errorf("it has %d teeth: it was not converted", teeth)
		}
		u.note("read", err)
		written := gear("v2")
		written.SetAnnotations(map[string]string{"n": fmt.Sprint(n)})
		u.note("write", w.client.Patch(context.WithoutCancel(ctx), written, client.Merge))
		time.Sleep(50 * time.Millisecond)
	}
}

// TestNoRequestFailsWhileAConversionWebhookIsExchanged upgrades to an operator whose webhook comes up slowly, in another Deployment, while
// somebody works with the objects. The server of the old one ends with its Service.
func TestNoRequestFailsWhileAConversionWebhookIsExchanged(t *testing.T) {
	w := newWorldAlone(t)
	group := w.apiGroup()
	versions := []string{"v1 served stored", "v2 served"}
	old := w.converting(w.owns(operator{pkg: "op", version: "1.0.0"}, group, versions...), group, "old", false)
	w.create(w.allNamespaces(), w.catalogSource(w.catalog(old)), w.subscribe("op"))
	before := w.serve("old")
	w.succeeds("op.v1.0.0")
	w.gear(group, "v1", "used", 7)

	u := &user{}
	ctx, stop := context.WithCancel(t.Context())
	var working sync.WaitGroup
	working.Go(func() { u.run(ctx, w, group) })
	defer working.Wait()
	defer stop()
	w.eventually("the webhook to be used", func() error {
		if requests, failures := u.sofar(); failures > 0 || requests < 10 || before.asked.Load() == 0 {
			return fmt.Errorf("%d requests, %d failures", requests, failures)
		}
		return nil
	})

	next := w.converting(w.owns(operator{pkg: "op", version: "2.0.0"}, group, versions[0]+` {"type":"integer","maximum":50}`, versions[1]), group, "new", true)
	w.catalog(old, next)
	working.Go(func() { // Stop the server when its Service is gone, as its pods would.
		for ctx.Err() == nil {
			err := before.world.client.Get(ctx, client.ObjectKey{Namespace: before.world.namespace, Name: before.service}, &corev1.Service{})
			if apierrors.IsNotFound(err) {
				before.server.CloseClientConnections()
				before.server.Close()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	after := w.serve("new")
	seen, _ := u.sofar()
	w.eventually("work to go on while the new webhook is not there", func() error {
		if requests, _ := u.sofar(); requests < seen+60 {
			return fmt.Errorf("%d requests", requests-seen)
		}
		return nil
	})
	if after.asked.Load() > 0 {
		t.Error("the new webhook is asked before its pods run")
	}
	w.openGates("new")
	w.succeeds("op.v2.0.0")
	w.eventually("the old operator to be gone", func() error {
		if _, err := w.csv("op.v1.0.0"); !apierrors.IsNotFound(err) {
			return fmt.Errorf("it is not: %w", err)
		}
		return nil
	})
	seen, _ = u.sofar()
	w.eventually("work to go on after that", func() error {
		if requests, _ := u.sofar(); requests < seen+40 {
			return fmt.Errorf("%d requests", requests-seen)
		}
		return nil
	})
	stop()
	working.Wait()
	t.Logf("%d requests; the old webhook was asked %d times, the new one %d times", u.requests, before.asked.Load(), after.asked.Load())
	if len(u.failures) > 0 {
		t.Errorf("%d of %d requests failed: %q", len(u.failures), u.requests, u.failures[:min(5, len(u.failures))])
	}
	if after.asked.Load() == 0 {
		t.Error("the new webhook was never asked")
	}
}

// openGates lets the pods of a Deployment be scheduled.
func (w *world) openGates(deployment string) {
	w.t.Helper()
	w.eventually("open the gates of "+deployment, func() error {
		var pods corev1.PodList
		if err := w.client.List(w.t.Context(), &pods, client.InNamespace(w.namespace), client.MatchingLabels{"app": deployment}); err != nil {
			return err
		}
		if len(pods.Items) == 0 {
			return fmt.Errorf("there is no pod")
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			pod.Spec.SchedulingGates = nil
			if err := w.client.Update(w.t.Context(), pod); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestAConversionWebhookIsGivenUp upgrades to an operator without one. What is stored in the version that the webhook converted is
// rewritten while it is still there: nothing else knows that a gear has ten times as many teeth in v2.
func TestAConversionWebhookIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, explicit := range map[string]bool{"as the CRD says": true, "without a word": false} {
		t.Run(name, func(t *testing.T) {
			if explicit {
				sweep.Nightly(t, "the other case, and TestAWebhookOfNoOperatorIsTakenOff in internal/controller/installplan")
			}
			w := newWorld(t)
			group := w.apiGroup()
			first := w.converting(w.owns(operator{pkg: "op", version: "1.0.0"}, group, "v1 served stored", "v2 served"), group, "old", false)
			second := w.converting(w.owns(operator{pkg: "op", version: "2.0.0"}, group, "v1 served", "v2 served stored"), group, "old", false)
			third := w.owns(operator{pkg: "op", version: "3.0.0"}, group, "v1 served", "v2 served stored")
			if explicit {
				crd := map[string]any{}
				must.NoError(t, json.Unmarshal([]byte(third.files["manifests/gears.json"]), &crd))
				must.NoError(t, unstructured.SetNestedField(crd, "None", "spec", "conversion", "strategy"))
				third.files["manifests/gears.json"] = text(w, crd)
			}
			w.create(w.allNamespaces(), w.catalogSource(w.catalog(first)), w.subscribe("op"))
			hook := w.serve("old")
			w.succeeds("op.v1.0.0")
			w.gear(group, "v1", "old", 7)
			w.catalog(first, second)
			w.succeeds("op.v2.0.0")
			w.gears(group, "v1 v2, stored v1 v2")
			if hook.asked.Load() == 0 {
				w.teeth(group, "v2", 70)
			}
			w.catalog(first, second, third)
			w.succeeds("op.v3.0.0")
			w.gears(group, "v1 v2, stored v2")
			w.eventually("the CRD to be converted by nobody", func() error {
				var crd apiextensionsv1.CustomResourceDefinition
				if err := w.client.Get(t.Context(), client.ObjectKey{Name: "gears." + group}, &crd); err != nil {
					return err
				}
				if c := crd.Spec.Conversion; c != nil && c.Strategy != apiextensionsv1.NoneConverter {
					return fmt.Errorf("it is converted by %s", c.Strategy)
				}
				return nil
			})
			w.teeth(group, "v2", 70)
		})
	}
}

// teeth waits until the gear called old has so many in a version.
func (w *world) teeth(group, version string, want int64) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("the gear to have %d teeth in %s", want, version), func() error {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion(group + "/" + version)
		o.SetKind("Gear")
		if err := w.client.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: "old"}, o); err != nil {
			return err
		}
		if got, _, _ := unstructured.NestedInt64(o.Object, "spec", "teeth"); got != want {
			return fmt.Errorf("it has %d", got)
		}
		return nil
	})
}
