package clusterserviceversion

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// proxyKind is the kind in which some distributions keep the proxy of the cluster, in an object of this name. The kind
// comes with a CRD: clusters without it have no such setting.
var proxyKind = schema.GroupVersionKind{Group: "config.openshift.io", Version: "v1", Kind: "Proxy"}

const (
	proxyCRD  = "proxies.config.openshift.io"
	proxyName = "cluster"
)

// proxyVariables are the variables that the fields of the status of the proxy become.
var proxyVariables = []struct{ variable, field string }{
	{"HTTP_PROXY", "httpProxy"}, {"HTTPS_PROXY", "httpsProxy"}, {"NO_PROXY", "noProxy"},
}

// newProxy is an empty object of the kind.
func newProxy() *unstructured.Unstructured {
	proxy := &unstructured.Unstructured{}
	proxy.SetGroupVersionKind(proxyKind)
	return proxy
}

// proxyEnv are the proxy variables of the cluster. They are read from the cluster itself: there is one object, and a
// cache of it could keep every pass waiting where the manager may not list it.
func (f *facts) proxyEnv(ctx context.Context) ([]corev1.EnvVar, error) {
	crd, err := f.readCRD(ctx, proxyCRD)
	if err != nil || crd == nil {
		return nil, err
	}
	proxy := newProxy()
	err = f.c.live.Get(ctx, client.ObjectKey{Name: proxyName}, proxy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the proxy of the cluster, %s %s: %w", proxyKind.Kind, proxyName, err)
	}
	var out []corev1.EnvVar
	for _, p := range proxyVariables {
		value, _, err := unstructured.NestedString(proxy.Object, "status", p.field)
		if err != nil {
			return nil, fmt.Errorf("read status.%s of %s %s: %w", p.field, proxyKind.Kind, proxyName, err)
		}
		if value != "" {
			out = append(out, corev1.EnvVar{Name: p.variable, Value: value})
		}
	}
	return out, nil
}

// proxyWatch starts to watch the proxy of the cluster once its kind is there.
type proxyWatch struct {
	once  sync.Once
	start func()
}

func (p *proxyWatch) appeared() {
	if p.start != nil {
		p.once.Do(p.start)
	}
}

// everyone is every CSV: the proxy of the cluster concerns all.
func (c *Controller) everyone(ctx context.Context, _ client.Object) []reconcile.Request {
	return c.csvs(ctx)
}
