package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead.dev/fairlead/catalog/safetext"
	"fairlead.dev/fairlead/internal/rollout"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// reference is what has the API server call a Service.
type reference struct {
	// object is what says so, and part the webhook in it.
	object, part string
	service      types.NamespacedName
	// bundle is the PEM of the CA bundle that the certificate of the Service is verified by; insecure that it is not.
	bundle   []byte
	insecure bool
	// means is what does not work without it, and remove the command that takes it away.
	means, remove string
}

func (r reference) name() string {
	if r.part == "" {
		return r.object
	}
	return r.object + ", webhook " + r.part
}

// servedAPIs examines what the API server asks Services for: webhooks and aggregated APIs.
type servedAPIs struct{ *examiner }

// webhooks examines whether what answers webhooks is there.
func (e servedAPIs) webhooks(ctx context.Context, c *Check) {
	all := e.hooks(ctx, c)
	for _, r := range all {
		if problem := e.backend(ctx, c, r.service); problem != "" {
			c.fail(r.name(), e.bringBack(r), "it cannot be reached: Service %s %s; %s", r.service, problem, r.means)
		}
	}
	c.Summary = safetext.Count(len(all), "webhook") + " of Services"
}

// bringBack is what to do about a Service that leads nowhere.
func (e servedAPIs) bringBack(r reference) string {
	return fmt.Sprintf("fairlead status -n %s shows the operator that serves it, and why it does not; where it is there no more: %s", r.service.Namespace, r.remove)
}

// hooks are the webhooks that Services answer: of admission, and those that convert custom resources.
func (e servedAPIs) hooks(ctx context.Context, c *Check) []reference {
	var all []reference
	add := func(kind, resource, object, part string, config admissionv1.WebhookClientConfig, policy *admissionv1.FailurePolicyType) {
		if config.Service == nil {
			return
		}
		means := "requests that it is asked about are refused (failurePolicy Fail)"
		if policy != nil && *policy == admissionv1.Ignore {
			means = "requests are let through without it (failurePolicy Ignore)"
		}
		all = append(all, reference{object: kind + " " + object, part: part, service: types.NamespacedName{Namespace: config.Service.Namespace, Name: config.Service.Name},
			bundle: config.CABundle, means: means, remove: "kubectl delete " + resource + " " + object})
	}
	var validating admissionv1.ValidatingWebhookConfigurationList
	if c.read("ValidatingWebhookConfigurations", e.Client.List(ctx, &validating)) {
		for i := range validating.Items {
			for _, w := range validating.Items[i].Webhooks {
				add("ValidatingWebhookConfiguration", "validatingwebhookconfiguration", validating.Items[i].Name, w.Name, w.ClientConfig, w.FailurePolicy)
			}
		}
	}
	var mutating admissionv1.MutatingWebhookConfigurationList
	if c.read("MutatingWebhookConfigurations", e.Client.List(ctx, &mutating)) {
		for i := range mutating.Items {
			for _, w := range mutating.Items[i].Webhooks {
				add("MutatingWebhookConfiguration", "mutatingwebhookconfiguration", mutating.Items[i].Name, w.Name, w.ClientConfig, w.FailurePolicy)
			}
		}
	}
	return append(all, e.conversions(ctx, c)...)
}

// conversions are the webhooks of CustomResourceDefinitions.
func (e servedAPIs) conversions(ctx context.Context, c *Check) []reference {
	var all []reference
	for next := ""; ; {
		var crds apiextensionsv1.CustomResourceDefinitionList
		if !c.read("CustomResourceDefinitions", e.Client.List(ctx, &crds, client.Limit(operandPage), client.Continue(next))) {
			return all
		}
		for i := range crds.Items {
			d := &crds.Items[i]
			if d.Spec.Conversion == nil || d.Spec.Conversion.Webhook == nil || d.Spec.Conversion.Webhook.ClientConfig == nil || d.Spec.Conversion.Webhook.ClientConfig.Service == nil {
				continue
			}
			config := d.Spec.Conversion.Webhook.ClientConfig
			all = append(all, reference{object: "CustomResourceDefinition " + d.Name, part: "for conversion", service: types.NamespacedName{Namespace: config.Service.Namespace, Name: config.Service.Name},
				bundle: config.CABundle, means: "custom resources cannot be read in another version than the stored one", remove: "set spec.conversion.strategy of it to None, where its versions do not differ"})
		}
		if next = crds.Continue; next == "" {
			return all
		}
	}
}

// backend is why a Service leads nowhere; empty for one that leads to something, and for what cannot be read.
func (e servedAPIs) backend(ctx context.Context, c *Check, key types.NamespacedName) string {
	if known, asked := e.backends[key]; asked {
		return known
	}
	problem := e.asked(ctx, c, key)
	e.backends[key] = problem
	return problem
}

func (e servedAPIs) asked(ctx context.Context, c *Check, key types.NamespacedName) string {
	var service corev1.Service
	err := e.Client.Get(ctx, key, &service)
	switch {
	case apierrors.IsNotFound(err):
		return "does not exist"
	case !c.read("Services of namespace "+key.Namespace, err), service.Spec.Type == corev1.ServiceTypeExternalName:
		return ""
	}
	var slices discoveryv1.EndpointSliceList
	err = e.Client.List(ctx, &slices, client.InNamespace(key.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: key.Name})
	if !c.read("EndpointSlices of namespace "+key.Namespace, err) {
		return ""
	}
	count := 0
	for _, slice := range slices.Items {
		for _, endpoint := range slice.Endpoints {
			if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
				return ""
			}
			count++
		}
	}
	if count == 0 {
		return "has no endpoint: its selector matches no pod"
	}
	return fmt.Sprintf("has no ready endpoint: none of %s is ready", safetext.Count(count, "pod"))
}

// packagesGroup is the group that the manager itself serves.
const packagesGroup = "packages.operators.coreos.com"

// apiServices examines the APIs that are served by others than the API server itself.
func (e servedAPIs) apiServices(ctx context.Context, c *Check) {
	all, references := e.aggregated(ctx, c)
	for i := range all {
		a, r := &all[i], references[i]
		problem := e.backend(ctx, c, r.service)
		if problem != "" {
			problem = fmt.Sprintf("it has no backend: Service %s %s", r.service, problem)
		} else if at := slices.IndexFunc(a.Status.Conditions, func(x apiregistrationv1.APIServiceCondition) bool {
			return x.Type == apiregistrationv1.Available && x.Status != apiregistrationv1.ConditionTrue
		}); at >= 0 {
			problem = fmt.Sprintf("it is not available: %s: %s", a.Status.Conditions[at].Reason, a.Status.Conditions[at].Message)
		}
		if problem == "" {
			continue
		}
		remedy := e.bringBack(r)
		if a.Spec.Group == packagesGroup {
			namespace, name := e.own()
			remedy = fmt.Sprintf("the manager serves it: see the checks of the manager, and kubectl -n %s logs deployment/%s --tail=50", namespace, name)
		}
		c.fail(r.object, remedy, "%s; nothing of API %s can be read, and namespaces cannot be deleted meanwhile", problem, strings.TrimPrefix(a.Spec.Group+"/"+a.Spec.Version, "/"))
	}
	c.Summary = safetext.Count(len(all), "API") + " of Services"
}

// aggregated are the APIServices that Services stand for.
func (e servedAPIs) aggregated(ctx context.Context, c *Check) ([]apiregistrationv1.APIService, []reference) {
	var list apiregistrationv1.APIServiceList
	if !c.read("APIServices", e.Client.List(ctx, &list)) {
		return nil, nil
	}
	all := slices.DeleteFunc(list.Items, func(a apiregistrationv1.APIService) bool { return a.Spec.Service == nil })
	var references []reference
	for i := range all {
		a := &all[i]
		references = append(references, reference{object: "APIService " + a.Name, service: types.NamespacedName{Namespace: a.Spec.Service.Namespace, Name: a.Spec.Service.Name},
			bundle: a.Spec.CABundle, insecure: a.Spec.InsecureSkipTLSVerify, means: "the API is not served", remove: "kubectl delete apiservice " + a.Name})
	}
	return all, references
}

// servedKind reports whether the cluster has a CustomResourceDefinition; what cannot be read counts as there.
func (e servedAPIs) servedKind(ctx context.Context, definition string) bool {
	d := &metav1.PartialObjectMetadata{}
	d.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := e.Client.Get(ctx, client.ObjectKey{Name: definition}, d)
	return !apierrors.IsNotFound(err) && !rollout.IsUnknownKind(err)
}
