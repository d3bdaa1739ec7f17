package registryv1

import (
	"fmt"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// validator looks for one kind of thing that keeps a bundle from being installed, and reports all of them.
type validator func(p *problems, b *bundle.Bundle)

// validators are what every bundle has to pass. The first thirteen are those of the published implementation, in its order; the others
// refuse what no cluster would take, or what nobody could tell the meaning of.
var validators = []validator{
	uniqueDeployments,
	deploymentNames,
	uniqueCRDs,
	ownedCRDsPresent,
	packageNamed,
	conversionNeedsAllNamespaces,
	webhooksServed,
	uniqueWebhooks,
	webhookNames,
	oneConversionEach,
	convertedCRDsOwned,
	webhookRules,
	supportedKinds,

	webhookTypes,
	apiServicesServed,
	servable,
	uniqueObjects,
	crdGroups,
	servedCRDVersions,
	convertibleCRDs,
	installable,
	readableProperties,
}

// Validate says why a bundle cannot be installed, as an *InvalidError with all reasons; nil when it can.
func Validate(b *bundle.Bundle) error {
	p := &problems{}
	for _, validate := range validators {
		validate(p, b)
	}
	if len(p.list) > 0 {
		return &InvalidError{Bundle: b.Name, Problems: p.list}
	}
	return nil
}

// problems collects what is wrong with a bundle.
type problems struct {
	list []error
}

// add notes a problem with an object of the bundle. The message says what is wrong and what to do.
func (p *problems) add(object, field, message string, args ...any) {
	place := object
	if field != "" {
		place += ": " + field
	}
	p.list = append(p.list, fmt.Errorf("%s: %w", place, fmt.Errorf(message, args...)))
}

// csv notes a problem with the ClusterServiceVersion.
func (p *problems) csv(b *bundle.Bundle, field, message string, args ...any) {
	p.add(v1alpha1.ClusterServiceVersionKind+" "+b.Name, field, message, args...)
}

// The fields of a ClusterServiceVersion that several validators speak of.

func deploymentField(i int) string { return fmt.Sprintf("spec.install.spec.deployments[%d]", i) }

func webhookField(i int) string { return fmt.Sprintf("spec.webhookdefinitions[%d]", i) }

func apiServiceField(i int) string { return fmt.Sprintf("spec.apiservicedefinitions.owned[%d]", i) }
