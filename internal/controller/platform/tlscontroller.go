package platform

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"fairlead.dev/fairlead/internal/platform"
)

// Name is that of the only APIServer.
const Name = "cluster"

// definition is the name of the CustomResourceDefinition of the kind.
const definition = "apiservers.config.openshift.io"

var kind = schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "APIServer"}

// TLSController keeps a Source at the profile of the cluster.
type TLSController struct {
	reader client.Reader
	source *platform.Source
	log    logr.Logger
	// served reports whether the kind exists, and watch starts to watch its object, once.
	served  atomic.Bool
	watch   func() error
	watched bool // there is one pass at a time
}

// Reconcile puts the profile of the cluster in force.
func (c *TLSController) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if !c.served.Load() {
		c.reset()
		return reconcile.Result{}, nil
	}
	if !c.watched {
		if err := c.watch(); err != nil {
			return reconcile.Result{}, fmt.Errorf("watch %s %s, for the TLS profile of the cluster: %w", kind.Kind, Name, err)
		}
		c.watched = true
	}
	return reconcile.Result{}, c.follow(ctx)
}

// follow reads the object. One that is invalid changes nothing: a typing error must not weaken, or cut off, what is served.
func (c *TLSController) follow(ctx context.Context) error {
	object := empty(kind, Name)
	err := c.reader.Get(ctx, client.ObjectKey{Name: Name}, object)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		c.reset()
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s %s, for the TLS profile of the cluster: %w", kind.Kind, Name, err)
	}
	security, profile, without, err := read(object)
	if err != nil {
		c.log.Error(err, "the TLS profile of the cluster is invalid; the profile in force stays", "kind", kind.Kind, "name", Name, "generation", object.GetGeneration())
		return nil
	}
	if c.source.Set(&profile) {
		c.log.Info("the TLS profile of the cluster is in force", "kind", kind.Kind, "name", Name, "generation", object.GetGeneration(), "profile", security, "withoutCiphers", without)
	}
	return nil
}

func (c *TLSController) reset() {
	if c.source.Set(nil) {
		c.log.Info("the cluster has no TLS profile any more; the default one is in force", "kind", kind.Kind, "name", Name)
	}
}

// read returns the name of a profile, the profile, and the cipher suites that it lacks.
func read(object *unstructured.Unstructured) (name string, p platform.Profile, without []string, err error) {
	var content struct {
		Spec struct {
			Security platform.Security `json:"tlsSecurityProfile"`
		} `json:"spec"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &content); err != nil {
		return "", p, nil, fmt.Errorf("read spec.tlsSecurityProfile: %w", err)
	}
	p, without, err = content.Spec.Security.Profile()
	return content.Spec.Security.Type, p, without, err
}

// Begin puts the profile of the cluster in force before anything is served, where the cluster has one. The reader reads the cluster itself.
func Begin(ctx context.Context, reader client.Reader, source *platform.Source, log logr.Logger) error {
	return (&TLSController{reader: reader, source: source, log: log}).follow(ctx)
}
