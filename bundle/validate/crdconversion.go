package validate

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// checkConversion checks how versions are converted. Bundles leave the webhook to the ClusterServiceVersion, and often
// hold a client configuration that stands for it.
func checkConversion(r recorder, at place, crd *apiextensionsv1.CustomResourceDefinition) {
	conversion := crd.Spec.Conversion
	if conversion == nil {
		return
	}
	at = at.in("spec.conversion")
	switch conversion.Strategy {
	case apiextensionsv1.NoneConverter:
		if conversion.Webhook != nil {
			r.err(RuleCRDConversion, at.in("spec.conversion.webhook"), "should not be set when strategy is None", "remove it")
		}
	case apiextensionsv1.WebhookConverter:
		checkConversionWebhook(r, at, crd)
	default:
		r.err(RuleCRDConversion, at.in("spec.conversion.strategy"), fmt.Sprintf("%q is not a strategy", conversion.Strategy), "use None or Webhook")
	}
}

func checkConversionWebhook(r recorder, at place, crd *apiextensionsv1.CustomResourceDefinition) {
	webhook := crd.Spec.Conversion.Webhook
	if crd.Spec.PreserveUnknownFields {
		r.err(RuleCRDConversion, at, "needs spec.preserveUnknownFields to be false", "set it")
	}
	if webhook == nil || webhook.ClientConfig == nil {
		r.err(RuleCRDConversion, at.in("spec.conversion.webhook.clientConfig"), "is needed for the strategy Webhook", "add it, or use the strategy None")
		return
	}
	client, field := webhook.ClientConfig, "spec.conversion.webhook.clientConfig"
	if (client.URL == nil) == (client.Service == nil) {
		r.err(RuleCRDConversion, at.in("%s", field), "exactly one of url or service is required", "name the service")
	}
	checkWebhookService(r, at.in("%s.service", field), client.Service)
	if client.URL != nil {
		u, err := url.Parse(*client.URL)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			r.err(RuleCRDConversion, at.in("%s.url", field), fmt.Sprintf("%q is not an address of a webhook", *client.URL),
				"write it like https://example.com/convert, without user, query and fragment")
		}
	}
	reviews, reviewsAt := webhook.ConversionReviewVersions, at.in("spec.conversion.webhook.conversionReviewVersions")
	for i, version := range reviews {
		if slices.Contains(reviews[:i], version) {
			r.err(RuleCRDConversion, reviewsAt, fmt.Sprintf("%q is there twice", version), "keep one of them")
		}
		for _, message := range validation.IsDNS1035Label(version) {
			r.err(RuleCRDConversion, reviewsAt, fmt.Sprintf("%q: %s", version, message), "name versions such as v1")
		}
	}
	if !slices.Contains(reviews, "v1") && !slices.Contains(reviews, "v1beta1") {
		r.err(RuleCRDConversion, reviewsAt, "must include at least one of v1, v1beta1", "add v1")
	}
}

// checkWebhookService checks the service of a webhook, which installation replaces.
func checkWebhookService(r recorder, at place, service *apiextensionsv1.ServiceReference) {
	if service == nil {
		return
	}
	if service.Name == "" || service.Namespace == "" {
		r.err(RuleCRDConversion, at, "needs name and namespace", "add them; installation replaces them")
	}
	if port := service.Port; port != nil && len(validation.IsValidPortNum(int(*port))) > 0 {
		r.err(RuleCRDConversion, at, fmt.Sprintf("%d is not a port", *port), "use a port from 1 to 65535, or leave it out for 443")
	}
	if path := service.Path; path != nil && *path != "" && *path != "/" {
		// It begins with a slash and has steps like names of objects.
		steps, rooted := strings.CutPrefix(strings.TrimSuffix(*path, "/"), "/")
		if !rooted || slices.ContainsFunc(strings.Split(steps, "/"), func(step string) bool { return len(validation.IsDNS1123Subdomain(step)) > 0 }) {
			r.err(RuleCRDConversion, at, fmt.Sprintf("%q is not a path of a webhook", *path), "write it like /convert")
		}
	}
}
