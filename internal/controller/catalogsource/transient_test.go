package catalogsource

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"fairlead.dev/fairlead/test/must"
)

var serviceKind = schema.GroupResource{Resource: "services"}

// TestAnAPIServerThatIsGoneIsNoTroubleOfTheCatalog: neither when its ConfigMap is to be read, nor when its Service is to be kept.
func TestAnAPIServerThatIsGoneIsNoTroubleOfTheCatalog(t *testing.T) {
	gone := &url.Error{Op: "Get", URL: "https://10.0.0.1/api", Err: errors.New("connection refused")}
	w := newWorld(t, source(inConfigMap("content")), configMap("content", good))
	live := w.c.configMaps.(configMaps)
	w.c.configMaps = configMaps{live: failing{live.live, gone}, client: live.client, indexes: live.indexes, clock: live.clock}
	try := func() error {
		_, err := w.c.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		return err
	}
	for range 3 {
		if err := try(); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Fatalf("got %v", err)
		}
		if s := w.source(); s.Status.Reason != "" || readyReason(s) != "False Loading" {
			t.Fatalf("status %+v", s.Status)
		}
	}
	w.c.configMaps = live
	w.reconcile()
	w.serve()
	w.refuse(false, gone)
	if err := try(); err == nil {
		t.Error("a Service that could not be written is no error")
	}
	if s := w.source(); s.Status.Reason != "" || len(w.packages()) != 1 {
		t.Errorf("status %+v, packages %v", s.Status, w.packages())
	}
	w.Before = nil
	if _, s := w.reconcile(); readyReason(s) != "True Serving" {
		t.Errorf("status %+v", s.Status)
	}
	service := must.Value(w.service("cat"))(t)
	service.Spec.Ports[0].TargetPort.IntVal = 1
	must.NoError(t, w.user(service))
	w.refuse(false, apierrors.NewForbidden(serviceKind, "cat", errors.New("no")))
	if _, s := w.reconcile(); readyReason(s) != "True ServingWithProblems" || !strings.Contains(s.Status.Message, "forbidden") {
		t.Errorf("what lasts is told: %+v", s.Status)
	}
}

// failing is a reader that cannot read.
type failing struct {
	client.Reader
	err error
}

func (f failing) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return f.err
}
