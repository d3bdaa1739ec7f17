package platform

import (
	"fmt"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"fairlead.dev/fairlead/internal/platform"
	"fairlead.dev/fairlead/internal/reconcile"
)

// SetupTLS adds the controller to a manager. Nothing is watched on a cluster without the kind.
func SetupTLS(mgr manager.Manager, profile *platform.Source, log logr.Logger) error {
	c := &TLSController{reader: mgr.GetCache(), source: profile, log: log}
	var built controller.Controller
	c.watch = func() error {
		named := predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() == Name })
		return built.Watch(source.Kind(mgr.GetCache(), client.Object(empty(kind, "")), handler.EnqueueRequestsFromMapFunc(one(Name)), named))
	}
	options := reconcile.Options(1)
	everywhere := false
	options.NeedLeaderElection = &everywhere
	built, err := builder.ControllerManagedBy(mgr).Named("apiserver").
		Watches(&apiextensionsv1.CustomResourceDefinition{}, handler.EnqueueRequestsFromMapFunc(one(Name)), builder.WithPredicates(c.definitions())).
		WithOptions(options).
		Build(c)
	if err != nil {
		return fmt.Errorf("set up the controller of the TLS profile: %w", err)
	}
	return nil
}

// definitions notes whether the kind is served, and lets events of its definition pass.
func (c *TLSController) definitions() predicate.Predicate {
	noted := func(o client.Object, gone bool) bool {
		if o.GetName() == definition {
			c.served.Store(!gone && established(o))
			return true
		}
		return false
	}
	return predicate.Funcs{
		CreateFunc:  func(e event.CreateEvent) bool { return noted(e.Object, false) },
		UpdateFunc:  func(e event.UpdateEvent) bool { return noted(e.ObjectNew, false) },
		DeleteFunc:  func(e event.DeleteEvent) bool { return noted(e.Object, true) },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
