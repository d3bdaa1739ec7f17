package kubeconfig

import (
	"errors"
	"fmt"
	"net/url"
	"syscall"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	operatorsv1alpha1 "fairlead.dev/fairlead/api/operators/v1alpha1"
	operatorsv1alpha2 "fairlead.dev/fairlead/api/operators/v1alpha2"
	operatorsv2 "fairlead.dev/fairlead/api/operators/v2"
	packagesv1 "fairlead.dev/fairlead/api/packages/v1"
	"fairlead.dev/fairlead/internal/rollout"
)

// Connect returns a client for the cluster that the flags name, and the namespace to work in.
func (f *Flags) Connect() (client.Client, string, error) {
	config, err := f.Config()
	if err != nil {
		return nil, "", err
	}
	namespace, err := f.Namespace()
	if err != nil {
		return nil, "", err
	}
	scheme, err := Scheme()
	if err != nil {
		return nil, "", err
	}
	if err := packagesv1.AddToScheme(scheme); err != nil { // which commands alone read
		return nil, "", fmt.Errorf("register the API kinds: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, "", fmt.Errorf("connect to the cluster at %s: %w", config.Host, err)
	}
	return c, namespace, nil
}

// explained is an error that says what to do about the cluster.
type explained struct{ error }

func (e explained) Unwrap() error { return e.error }

// Explain adds to an error what to do about a cluster that does not answer, that does not serve the project's kinds, or whose discovery fails.
func Explain(err error) error {
	var failed *url.Error
	var discovery *apiutil.ErrResourceDiscoveryFailed
	switch {
	case errors.As(err, new(explained)):
		return err
	case rollout.IsUnknownKind(err):
		return explained{fmt.Errorf("the cluster does not serve the operators.coreos.com APIs: run the manager, which applies them, with: fairlead manager (%w)", err)}
	case errors.As(err, &discovery), apierrors.IsServiceUnavailable(err):
		return explained{fmt.Errorf("%w; what serves an API of the cluster does not answer: `kubectl get apiservices` shows which, and why; try again when it is available", err)}
	case errors.As(err, &failed) && errors.Is(err, syscall.ECONNREFUSED):
		at := failed.URL
		if u, parsed := url.Parse(failed.URL); parsed == nil {
			at = u.Host
		}
		return explained{fmt.Errorf("%w; nothing answers at %s: start the cluster, or name another one with --kubeconfig or --context", err, at)}
	}
	return err
}

// init lets clients exchange CustomResourceDefinitions and APIServices as protobuf, as they do other kinds of Kubernetes: the schemas
// of a large operator take several times as long to read as JSON.
func init() {
	if err := apiutil.AddToProtobufScheme(func(scheme *runtime.Scheme) error {
		return errors.Join(apiextensionsv1.AddToScheme(scheme), apiregistrationv1.AddToScheme(scheme))
	}); err != nil {
		panic(err) // only a clash of kinds, which no input can bring about
	}
}

// Scheme returns a scheme with every kind that the project reads or writes.
func Scheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme,
		apiextensionsv1.AddToScheme,
		apiregistrationv1.AddToScheme,
		operatorsv1alpha1.AddToScheme,
		operatorsv1alpha2.AddToScheme,
		operatorsv1.AddToScheme,
		operatorsv2.AddToScheme,
		olmv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("register the API kinds: %w", err)
		}
	}
	return scheme, nil
}
