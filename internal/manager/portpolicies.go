package manager

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// managerPolicy is the NetworkPolicy of config/network.yaml, which closes all ports of the manager that it does not name.
	managerPolicy = "fairlead-manager"
	// privatePolicyPrefix begins the names of those that open a port to one namespace; the port follows.
	privatePolicyPrefix = "fairlead-catalogs-"
	// catalogsOfLabel names that namespace.
	catalogsOfLabel = "operators.fairlead.dev/catalogs-of"
)

// portPolicies open each port for private catalogs to the pods of one namespace. They are also the record of which namespace has which port: the
// name of a policy is made of the port, so that a port has one namespace, in all managers that run beside or after each other.
//
// The ports are closed by managerPolicy. Where that is not there, no policy is written: the first one that selects a pod closes all its other
// ports. A nil portPolicies is for a manager that is in no pod.
type portPolicies struct {
	namespace string
	client    client.Client
	reader    client.Reader // past the cache
}

// errForeignPolicy is in the error about a port whose policy is for another namespace.
var errForeignPolicy = errors.New("a port for private catalogs belongs to another namespace")

// claims are the namespaces by their ports.
type claims map[int]string

func (c claims) of(namespace string) (number int, ok bool) {
	for number, has := range c {
		if has == namespace {
			return number, true
		}
	}
	return 0, false
}

// selector is what the pods of the manager have in common, nil if nothing closes their ports.
func (p *portPolicies) selector(ctx context.Context) (*metav1.LabelSelector, error) {
	var base networkingv1.NetworkPolicy
	err := p.reader.Get(ctx, client.ObjectKey{Namespace: p.namespace, Name: managerPolicy}, &base)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read NetworkPolicy %s/%s, beside which the ports of private catalogs are opened: %w", p.namespace, managerPolicy, err)
	}
	return &base.Spec.PodSelector, nil
}

// claimed returns which ports have a namespace.
func (p *portPolicies) claimed(ctx context.Context) (claims, error) {
	if p == nil {
		return nil, nil
	}
	var all networkingv1.NetworkPolicyList
	if err := p.reader.List(ctx, &all, client.InNamespace(p.namespace), client.HasLabels{catalogsOfLabel}); err != nil {
		return nil, fmt.Errorf("list the NetworkPolicies of private catalogs in namespace %s: %w", p.namespace, err)
	}
	found := claims{}
	for i := range all.Items {
		policy := &all.Items[i]
		number, err := strconv.Atoi(strings.TrimPrefix(policy.Name, privatePolicyPrefix))
		if err == nil && policy.Name == policyName(number) && number >= firstPrivatePort && number < firstPrivatePort+privatePorts {
			found[number] = policy.Labels[catalogsOfLabel]
		}
	}
	return found, nil
}

func policyName(number int) string { return privatePolicyPrefix + strconv.Itoa(number) }

// claim reserves a port for a namespace, and reports whether it was free.
func (p *portPolicies) claim(ctx context.Context, namespace string, number int) (bool, error) {
	if p == nil {
		return true, nil
	}
	pods, err := p.selector(ctx)
	if err != nil || pods == nil {
		return err == nil, err
	}
	err = p.client.Create(ctx, p.desired(namespace, number, *pods))
	if apierrors.IsAlreadyExists(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open port %d of the manager to namespace %s by a NetworkPolicy in namespace %s: %w", number, namespace, p.namespace, err)
	}
	return true, nil
}

// keep corrects the policy of a port.
func (p *portPolicies) keep(ctx context.Context, namespace string, number int) error {
	if p == nil {
		return nil
	}
	pods, err := p.selector(ctx)
	if err != nil || pods == nil {
		return err
	}
	desired := p.desired(namespace, number, *pods)
	var live networkingv1.NetworkPolicy
	err = p.reader.Get(ctx, client.ObjectKeyFromObject(desired), &live)
	switch {
	case apierrors.IsNotFound(err):
		err = p.client.Create(ctx, desired)
	case err == nil && live.Labels[catalogsOfLabel] != namespace:
		return fmt.Errorf("%w: NetworkPolicy %s/%s is for port %d of namespace %s, and its label %s says %q; delete it, if nothing else needs it",
			errForeignPolicy, p.namespace, live.Name, number, namespace, catalogsOfLabel, live.Labels[catalogsOfLabel])
	case err == nil && !equality.Semantic.DeepEqual(live.Spec, desired.Spec):
		live.Spec = desired.Spec
		err = p.client.Update(ctx, &live)
	}
	if err != nil {
		return fmt.Errorf("keep NetworkPolicy %s/%s, which opens the port of private catalogs to namespace %s: %w", p.namespace, desired.Name, namespace, err)
	}
	return nil
}

// release gives a port back.
func (p *portPolicies) release(ctx context.Context, namespace string, number int) error {
	policy := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: policyName(number)}}
	if err := p.client.Delete(ctx, policy); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove NetworkPolicy %s/%s of the former catalogs of namespace %s: %w", p.namespace, policy.Name, namespace, err)
	}
	return nil
}

// desired opens a port to the pods of a namespace.
func (p *portPolicies) desired(namespace string, number int, pods metav1.LabelSelector) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: policyName(number), Labels: map[string]string{catalogsOfLabel: namespace}},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: pods,
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From:  []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}}},
				Ports: []networkingv1.NetworkPolicyPort{{Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromInt(number))}},
			}},
		},
	}
}
