package permissions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PolicyChecker judges the policies of a cluster.
type PolicyChecker struct {
	// Reader reads policies and bindings, such as a cache.
	Reader client.Reader
	// Manager is the user name that policies may exempt; empty for a service account fairlead-manager of any namespace.
	Manager string
}

// embedded are the shipped policies. They are read only.
var embedded = sync.OnceValues(func() ([]*admissionv1.ValidatingAdmissionPolicy, error) {
	all, _, err := ShippedPolicies(shippedNamespace)
	return all, err
})

// PolicyFinding is a policy that is not in force.
type PolicyFinding struct{ Policy, Problem string }

// String is one sentence.
func (f PolicyFinding) String() string {
	return "ValidatingAdmissionPolicy " + f.Policy + " " + f.Problem
}

// Check returns the named policies that are not in force, all when none is named. The error is about reading.
func (c *PolicyChecker) Check(ctx context.Context, names ...string) ([]PolicyFinding, error) {
	shipped, err := embedded()
	if err != nil {
		return nil, err
	}
	var live admissionv1.ValidatingAdmissionPolicyList
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	served := true
	for _, list := range []client.ObjectList{&live, &bindings} {
		err := c.Reader.List(ctx, list)
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			served = false
		} else if err != nil {
			return nil, fmt.Errorf("list the ValidatingAdmissionPolicies that ClusterExtensions rely on: %w", err)
		}
	}
	var all []PolicyFinding
	for _, p := range shipped {
		if len(names) > 0 && !slices.Contains(names, p.Name) {
			continue
		}
		i := slices.IndexFunc(live.Items, func(l admissionv1.ValidatingAdmissionPolicy) bool { return l.Name == p.Name })
		problem, weakness := "", ""
		if i >= 0 {
			weakness = weaker(&p.Spec, &live.Items[i].Spec, c.Manager)
		}
		switch {
		case !served:
			problem = "is missing: " + ErrPoliciesNotServed.Error()
		case i < 0 || !live.Items[i].DeletionTimestamp.IsZero():
			problem = "does not exist"
		case weakness != "":
			problem = "is weaker than the shipped one: " + weakness
		case !slices.ContainsFunc(bindings.Items, func(b admissionv1.ValidatingAdmissionPolicyBinding) bool {
			return b.Spec.PolicyName == p.Name && denies(&b)
		}):
			problem = "has no ValidatingAdmissionPolicyBinding with validationActions [Deny] and without paramRef and matchResources"
		default:
			continue
		}
		all = append(all, PolicyFinding{Policy: p.Name, Problem: problem})
	}
	return all, nil
}

// MissingPolicyError refuses what relies on policies that are not in force.
type MissingPolicyError struct {
	// What is refused, and Risk what the policies prevent.
	What, Risk string
	Findings   []PolicyFinding
}

func (e *MissingPolicyError) Error() string {
	var all []string
	for _, f := range e.Findings {
		all = append(all, f.String())
	}
	return fmt.Sprintf("%s: %s. %s. Apply config/policies.yaml of the manager, or have the manager accept the risk with --accept-missing-policies",
		e.What, strings.Join(all, "; "), e.Risk)
}

// Lacks reports whether the named policy is among those that are not in force.
func (e *MissingPolicyError) Lacks(name string) bool {
	return slices.ContainsFunc(e.Findings, func(f PolicyFinding) bool { return f.Policy == name })
}

// Require returns a *MissingPolicyError where a policy that protects an identity is not in force. account is the service account to act as, empty
// for the manager; revision reports that a ClusterObjectSet asks, and not a ClusterExtension. A nil PolicyChecker requires nothing.
func (c *PolicyChecker) Require(ctx context.Context, account string, revision bool) error {
	if c == nil {
		return nil
	}
	names := []string{RevisionOwners, RevisionStatus}
	kind := "ClusterExtensions"
	if revision {
		kind = "ClusterObjectSets"
	}
	refused := MissingPolicyError{What: "nothing is installed with the rights of the manager", Risk: "Without it any user who may write " + kind + " is an administrator of the cluster"}
	switch {
	case account != "":
		names = append(names, RevisionAccounts)
		refused.What = "nothing is installed as service account " + account
		refused.Risk = "Without it any user who may write " + kind + " has the rights of every service account"
		if !revision {
			names = append(names, ExtensionAccounts)
		}
	case revision:
		names = append(names, RevisionIdentity)
	default:
		names = append(names, RevisionIdentity, ExtensionIdentity)
	}
	findings, err := c.Check(ctx, names...)
	if err != nil || len(findings) == 0 {
		return err
	}
	refused.Findings = findings
	return &refused
}
