package clusterextension

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	olmv1 "fairlead.dev/fairlead/api/olm/v1"
	"fairlead.dev/fairlead/internal/preflight/crdupgrade"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// minPause is the least time between two attempts at something that failed.
	minPause = time.Second
	// recheck is when checks that refused something are made again, besides whenever an event suggests it.
	recheck = time.Minute
)

// preflight makes the checks that come before anything is written, and returns what they refuse.
func (c *Controller) preflight(ctx context.Context, s *state, made *content, o *outcome) error {
	problem := c.checkCRDs(ctx, s.ext, made.objects)
	if problem == nil {
		problem = c.checkDropped(ctx, s, made)
	}
	if problem == nil {
		problem = c.checkPermissions(ctx, s, made)
	}
	if problem != nil {
		o.soonest(recheck)
	}
	return problem
}

// checkCRDs refuses upgrades of CustomResourceDefinitions that could break stored objects.
func (c *Controller) checkCRDs(ctx context.Context, ext *olmv1.ClusterExtension, objects []*unstructured.Unstructured) error {
	policy, err := policyOf(ext)
	if err != nil || policy.None {
		return err
	}
	var unsafe []error
	reports := map[string]string{}
	for _, u := range objects {
		if u.GroupVersionKind().GroupKind() != crdKind {
			continue
		}
		findings, err := c.judge(ctx, u, policy)
		if err != nil {
			return err
		}
		if err := crdupgrade.NewUnsafeError(u.GetName(), findings); err != nil {
			unsafe = append(unsafe, err)
			reports[u.GetName()] = crdupgrade.Report(u.GetName(), findings)
		}
	}
	if len(unsafe) == 0 {
		return nil
	}
	problem := errors.Join(unsafe...)
	where, err := c.writeReport(ctx, ext, reports)
	if err != nil {
		return errors.Join(problem, err)
	}
	return fmt.Errorf("%w\n%s has all findings, with what to do about each; to upgrade nevertheless, exempt checks with annotation %s, or set "+
		"spec.install.preflight.crdUpgradeSafety.enforcement to None", problem, where, CRDExemptionsKey)
}

var crdKind = apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition").GroupKind()

// judge compares a CRD with the one that the cluster has.
func (c *Controller) judge(ctx context.Context, u *unstructured.Unstructured, policy crdupgrade.Policy) ([]crdupgrade.Finding, error) {
	live := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.live.Get(ctx, client.ObjectKey{Name: u.GetName()}, live); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("read CustomResourceDefinition %s, to see whether its upgrade is safe: %w", u.GetName(), err)
	}
	wanted := &apiextensionsv1.CustomResourceDefinition{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, wanted); err != nil {
		return nil, blocked(fmt.Errorf("read CustomResourceDefinition %s of the bundle: %w", u.GetName(), err))
	}
	return crdupgrade.Safety(live, wanted, policy), nil
}

// policyOf is how strictly the CRDs of an extension are checked.
func policyOf(ext *olmv1.ClusterExtension) (crdupgrade.Policy, error) {
	if i := ext.Spec.Install; i != nil && i.Preflight != nil && i.Preflight.CRDUpgradeSafety != nil {
		if i.Preflight.CRDUpgradeSafety.Enforcement == olmv1.CRDUpgradeSafetyEnforcementNone {
			return crdupgrade.Policy{None: true}, nil
		}
	}
	return exemptions(ext)
}

// exemptions are what the annotation of an extension lets pass.
func exemptions(ext *olmv1.ClusterExtension) (crdupgrade.Policy, error) {
	var policy crdupgrade.Policy
	for _, text := range strings.Split(ext.Annotations[CRDExemptionsKey], ";") {
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if len(words) > 3 {
			return policy, misconfigured(fmt.Errorf("annotation %s has %q, which is not CHECK [CRD [PATH]]", CRDExemptionsKey, strings.TrimSpace(text)))
		}
		words = append(words, "", "")
		policy.Exemptions = append(policy.Exemptions, crdupgrade.Exemption{Check: crdupgrade.Check(words[0]), CRD: words[1], Path: words[2],
			Reason: "annotation " + CRDExemptionsKey})
	}
	return policy, nil
}
