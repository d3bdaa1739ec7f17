package catalogtest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/bundle"
	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/rollout/crd"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const crdKind = "CustomResourceDefinition"

// definitions finds what becomes of the CustomResourceDefinitions, by the checks of CRD upgrade safety. A ClusterExtension is not upgraded where one of them fails. Under v0
// the objects that a cluster has decide: what could make one of them invalid, or lose what its user wrote, is found, and no more.
func definitions(ctx context.Context, api API, from, to *bundle.Bundle) ([]Finding, error) {
	before, err := definitionsOf(from)
	if err != nil {
		return nil, err
	}
	after, err := definitionsOf(to)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	for _, was := range before {
		i := slices.IndexFunc(after, func(is *apiextensionsv1.CustomResourceDefinition) bool { return is.Name == was.Name })
		if i < 0 {
			findings = append(findings, gone(api, was, to))
			continue
		}
		was.Status.StoredVersions = []string{crd.StorageVersion(was)}
		verdict, err := crd.Judge(ctx, crd.Change{Live: was, Desired: after[i], Policy: &crd.Policy{}}, crd.Stored{})
		if err != nil {
			return nil, fmt.Errorf("compare CustomResourceDefinition %s of bundle %s with that of bundle %s: %w", was.Name, from.Name, to.Name, err)
		}
		refused := verdict.Refused
		if api == V0 {
			refused = slices.DeleteFunc(slices.Clone(refused), func(f crd.Finding) bool { return !harms(f) })
		}
		findings = append(findings, judged(api, was.Name, refused)...)
	}
	return findings, nil
}

// definitionsOf are those of a bundle; clusters have not served older versions of their kind since Kubernetes 1.22.
func definitionsOf(b *bundle.Bundle) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, object := range b.Objects {
		if object.GetKind() != crdKind || object.GetAPIVersion() != apiextensionsv1.SchemeGroupVersion.String() {
			continue
		}
		read, err := crd.Read(object)
		if err != nil {
			return nil, fmt.Errorf("read CustomResourceDefinition %s of bundle %s: %w", object.GetName(), b.Name, err)
		}
		all = append(all, read)
	}
	return all, nil
}

// gone is a definition that the new bundle does not have.
func gone(api API, was *apiextensionsv1.CustomResourceDefinition, to *bundle.Bundle) Finding {
	f := Finding{Rule: Orphaned, Object: definitionName(was.Name), Message: fmt.Sprintf("%s does not have it: it is left in the cluster, and nothing serves its custom resources", to.Name),
		Remedy: help(Orphaned).Remedy}
	if api == V1 {
		f.Rule, f.Remedy = CustomResourceLost, help(CustomResourceLost).Remedy
		f.Message = fmt.Sprintf("%s does not have it: it is deleted, and the upgrade is refused while it has custom resources", to.Name)
	}
	return f
}

// harmless are checks that fail for what changes no object that is valid: a default that is stored with the object, a note about lists.
var harmless = []crd.Check{crd.Default, crd.Unhandled, crd.OneOf}

// harms tells whether objects that were valid may be invalid now, or lose a field that is their user's: status is written by the operator, which is new as well.
func harms(f crd.Finding) bool {
	widened := f.Check == crd.Type && strings.HasSuffix(f.What, " to none")
	return !slices.Contains(harmless, f.Check) && !widened && f.Path != "^.status" && !strings.HasPrefix(f.Path, "^.status.") && !strings.HasPrefix(f.Path, "^.status[")
}

const refusedByV1 = "ClusterExtensions are not upgraded: "

// judged makes one finding of those of a definition that are of the same rule.
func judged(api API, name string, refused []crd.Finding) []Finding {
	lines, remedies := map[Rule][]string{}, map[Rule]string{}
	for _, f := range refused {
		rule := SchemaNarrowed
		switch f.Check {
		case crd.StoredVersionRemoval:
			rule = StoredVersionDropped
		case crd.Default:
			rule = CustomResourceChanged
		}
		lines[rule] = append(lines[rule], f.String())
		if remedies[rule] == "" {
			remedies[rule] = f.Remedy
		}
	}
	before := map[Rule]string{SchemaNarrowed: "custom resources that are valid may not stay so: "}
	if api == V1 {
		before = map[Rule]string{SchemaNarrowed: refusedByV1, CustomResourceChanged: refusedByV1, StoredVersionDropped: refusedByV1}
	}
	var findings []Finding
	for _, rule := range []Rule{StoredVersionDropped, SchemaNarrowed, CustomResourceChanged} {
		if len(lines[rule]) > 0 {
			findings = append(findings, Finding{Rule: rule, Object: definitionName(name), Message: before[rule] + safetext.List(lines[rule], maxLines, "; "), Remedy: remedies[rule]})
		}
	}
	return findings
}

func definitionName(name string) string {
	return crdKind + "." + apiextensionsv1.GroupName + " " + name
}
