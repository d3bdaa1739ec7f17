package catalogtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog"
	"fairlead.dev/fairlead/catalog/constraint"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/rollout/permissions"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Checker finds what needs no cluster: what a catalog and the bundles of an upgrade say themselves.
type Checker struct {
	index    *catalog.Index
	problems catalog.Problems
	bundles  map[[2]string]*catalog.Bundle // by package and name
}

// NewChecker takes a catalog with the index that was made of it.
func NewChecker(c *catalog.Catalog, x *catalog.Index) *Checker {
	k := &Checker{index: x, problems: x.Problems(), bundles: map[[2]string]*catalog.Bundle{}}
	for i := range c.Bundles {
		k.bundles[[2]string{c.Bundles[i].Package, c.Bundles[i].Name}] = &c.Bundles[i]
	}
	return k
}

// Package finds what is wrong with the channels of a package. Clients of v1 take every entry, so that nothing can be.
func (k *Checker) Package(pkg string, api API) []Result {
	if api != V0 {
		return nil
	}
	var results []Result
	for _, p := range k.problems {
		if p.Object.Schema == catalog.SchemaChannel && p.Object.Package == pkg && slices.Contains([]catalog.Rule{catalog.RuleChannelHead, catalog.RuleChannelCycle, catalog.RuleChannelStranded}, p.Rule) {
			results = append(results, Result{API: api, Edge: Edge{Package: pkg, Channels: []string{p.Object.Name}, Position: p.Position},
				Findings: []Finding{{Rule: TwoHeads, Message: fmt.Sprintf("channel %s: %s", safetext.Quote(p.Object.Name), p.Message), Remedy: p.Fix}}})
		}
	}
	return results
}

// Edge finds what is wrong with an upgrade, or with an installation where from is nil.
func (k *Checker) Edge(ctx context.Context, api API, e Edge, from, to *bundle.Bundle) ([]Finding, error) {
	findings := k.dependencies(e)
	found, err := Check(ctx, api, from, to)
	return append(findings, found...), err
}

// dependencies finds what the bundle that an edge leads to needs and nothing in the catalog has.
func (k *Checker) dependencies(e Edge) []Finding {
	b := k.bundles[[2]string{e.Package, e.To}]
	if b == nil {
		return nil
	}
	var findings []Finding
	for _, p := range constraint.Unmet(&catalog.Catalog{Bundles: []catalog.Bundle{*b}}, k.index) {
		findings = append(findings, Finding{Rule: DependencyMissing, Message: fmt.Sprintf("%s: %s", e.To, p.Message), Remedy: p.Fix})
	}
	return findings
}

// Check finds what is wrong with an upgrade of one bundle to another, whatever catalog they are in; from is nil for an installation.
func Check(ctx context.Context, api API, from, to *bundle.Bundle) ([]Finding, error) {
	findings := webhooks(to)
	if from == nil {
		return findings, nil
	}
	definitions, err := definitions(ctx, api, from, to)
	if err != nil {
		return nil, err
	}
	more, err := grown(from, to)
	if err != nil {
		return nil, err
	}
	return slices.Concat(findings, definitions, selectors(from, to), more), nil
}

// webhooks finds those that no Deployment serves with a certificate.
func webhooks(b *bundle.Bundle) []Finding {
	var findings []Finding
	for _, f := range bundle.Validate(b) {
		if f.Rule == bundle.RuleServedBy && strings.HasPrefix(f.Field, "spec.webhookdefinitions") {
			findings = append(findings, Finding{Rule: WebhookCertificate, Object: "ClusterServiceVersion." + v1alpha1.GroupName + " " + b.Name, Message: f.Field + ": " + f.Message,
				Remedy: help(WebhookCertificate).Remedy})
		}
	}
	return findings
}

// selectors finds Deployments whose selectors change.
func selectors(from, to *bundle.Bundle) []Finding {
	var findings []Finding
	for _, is := range to.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		for _, was := range from.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
			if was.Name == is.Name && !equality.Semantic.DeepEqual(was.Spec.Selector, is.Spec.Selector) {
				findings = append(findings, Finding{Rule: ImmutableSelector, Object: "Deployment." + appsv1.GroupName + " " + is.Name,
					Message: fmt.Sprintf("the selector changes from %s to %s, which the API server refuses", metav1.FormatLabelSelector(was.Spec.Selector), metav1.FormatLabelSelector(is.Spec.Selector)),
					Remedy:  help(ImmutableSelector).Remedy})
			}
		}
	}
	return findings
}

// grown finds permissions that a patch release adds. A higher minor or major version announces that there is something to read.
func grown(from, to *bundle.Bundle) ([]Finding, error) {
	was, is := from.Version.Version, to.Version.Version
	if was.Major != is.Major || was.Minor != is.Minor {
		return nil, nil
	}
	before, err := powers(from)
	if err != nil {
		return nil, err
	}
	after, err := powers(to)
	if err != nil {
		return nil, err
	}
	more := permissions.Compare(before, after)
	if more.Empty() {
		return nil, nil
	}
	lines := strings.Split(more.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return []Finding{{Rule: PermissionGrown, Object: "ClusterServiceVersion." + v1alpha1.GroupName + " " + to.Name,
		Message: fmt.Sprintf("asks for more than %s: %s", from.Name, safetext.List(lines, maxLines, "; ")), Remedy: help(PermissionGrown).Remedy}}, nil
}

// maxLines is how many lines of one kind a finding repeats.
const maxLines = 6

// powers are the objects of a bundle that say what it may do: with its roles, and the Deployments that run as its accounts.
func powers(b *bundle.Bundle) ([]*unstructured.Unstructured, error) {
	objects, err := bundle.Steps(b, bundle.StepTarget{Namespace: "operators"})
	if err != nil {
		return nil, fmt.Errorf("read the permissions of bundle %s: %w", b.Name, err)
	}
	for _, d := range b.CSV.Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		text, err := json.Marshal(map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]string{"name": d.Name, "namespace": "operators"}, "spec": d.Spec})
		u := &unstructured.Unstructured{}
		if err == nil {
			err = json.Unmarshal(text, &u.Object)
		}
		if err != nil {
			return nil, fmt.Errorf("read Deployment %s of bundle %s: %w", d.Name, b.Name, err)
		}
		objects = append(objects, u)
	}
	return objects, nil
}
