package permissions

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"fairlead.dev/fairlead/config"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Names of the policies.
const (
	ExtensionAccounts  = "fairlead-extension-accounts"
	ExtensionIdentity  = "fairlead-extension-manager-identity"
	RevisionAccounts   = "fairlead-revision-accounts"
	RevisionIdentity   = "fairlead-revision-manager-identity"
	RevisionOwners     = "fairlead-revision-owners"
	RevisionRemoval    = "fairlead-revision-removal"
	RevisionStatus     = "fairlead-revision-status"
	RevisionForeground = "fairlead-revision-foreground"
)

// shippedNamespace is the namespace of the manager in the embedded manifests.
const shippedNamespace = "olm"

// user is the name of the manager's account as policies write it.
func user(namespace string) string { return "system:serviceaccount:" + namespace + ":fairlead-manager" }

// ShippedPolicies returns the policies for a manager in a namespace, and their bindings.
func ShippedPolicies(namespace string) ([]*admissionv1.ValidatingAdmissionPolicy, []*admissionv1.ValidatingAdmissionPolicyBinding, error) {
	text := bytes.ReplaceAll(config.Policies, []byte(user(shippedNamespace)), []byte(user(namespace)))
	var all []*admissionv1.ValidatingAdmissionPolicy
	var bindings []*admissionv1.ValidatingAdmissionPolicyBinding
	for r := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all, bindings, nil
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read the embedded policies: %w", err)
		}
		var object any
		if strings.Contains(string(document), "kind: ValidatingAdmissionPolicyBinding\n") {
			b := &admissionv1.ValidatingAdmissionPolicyBinding{}
			bindings, object = append(bindings, b), b
		} else {
			p := &admissionv1.ValidatingAdmissionPolicy{}
			all, object = append(all, p), p
		}
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			return nil, nil, fmt.Errorf("read the embedded policies: %w", err)
		}
	}
}

// ErrPoliciesNotServed reports a cluster whose API server has no ValidatingAdmissionPolicies.
var ErrPoliciesNotServed = errors.New("the API server has no ValidatingAdmissionPolicies in admissionregistration.k8s.io/v1, which Kubernetes 1.30 and later have")

// CreatePolicies creates the policies and bindings that do not exist, for a manager in a namespace. One that exists stays as it is: an administrator
// may have chosen another form. The names of what was created are returned.
func CreatePolicies(ctx context.Context, c client.Client, namespace string) (created []string, err error) {
	all, bindings, err := ShippedPolicies(namespace)
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	for _, p := range all {
		objects = append(objects, p)
	}
	for _, b := range bindings {
		objects = append(objects, b)
	}
	for _, o := range objects {
		kind := o.GetObjectKind().GroupVersionKind().Kind
		err := c.Create(ctx, o, client.FieldOwner("fairlead-manager"))
		switch {
		case err == nil:
			created = append(created, kind+" "+o.GetName())
		case meta.IsNoMatchError(err):
			return nil, ErrPoliciesNotServed
		case !apierrors.IsAlreadyExists(err):
			return created, fmt.Errorf("create %s %s: %w", kind, o.GetName(), err)
		}
	}
	return created, nil
}
