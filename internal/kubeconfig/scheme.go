package kubeconfig

import (
	"errors"
	"fmt"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	operatorsv1 "fairlead.dev/fairlead/api/operators/v1"
	operatorsv1alpha1 "fairlead.dev/fairlead/api/operators/v1alpha1"
	operatorsv1alpha2 "fairlead.dev/fairlead/api/operators/v1alpha2"
	operatorsv2 "fairlead.dev/fairlead/api/operators/v2"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

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
