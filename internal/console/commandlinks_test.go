package console

import (
	"net/http"
	"strings"
	"testing"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/test/must"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCommandLinks: what a text names a command for has a page, whose address is made of nothing but the arguments.
func TestCommandLinks(t *testing.T) {
	for text, want := range map[string][]commandLink{
		"waits for approval: fairlead approve gr -n nsb":                     {{"/approvals?namespace=nsb", "See what waits, and approve it"}},
		"held; to see why: fairlead why-not kite@2.0.0+build --namespace b.": {{"/why?kind=why-not&name=kite&namespace=b&version=2.0.0%2Bbuild", "Why not kite 2.0.0+build"}},
		"to see what to do: fairlead why mine":                               {{"/why?kind=why&name=mine&namespace=here", "Why mine"}},
		"fairlead why mine, or fairlead why mine":                            {{"/why?kind=why&name=mine&namespace=here", "Why mine"}},
		"fairlead why-not 'a&b=c' -n 'x?y'":                                  {{"/why?kind=why-not&name=a%26b%3Dc&namespace=x%3Fy", "Why not a&b=c"}},
		"fairlead status mine; unfairlead why":                               nil,
		"fairlead why <script>":                                              nil,
	} {
		must.Equal(t, text, commandLinks(text, "here"), want)
	}
	must.Equal(t, "bounded", len(commandLinks("fairlead why a; fairlead why b; fairlead why c; fairlead why d", "")), maxCommandLinks)
	must.Equal(t, "of no namespace", commandLinks("fairlead approve a", "")[0].Address, "/approvals")
}

// TestPagesLeadWhereCommandsDo: beside what tells of a command there is the page that has the same.
func TestPagesLeadWhereCommandsDo(t *testing.T) {
	sub := &v1alpha1.Subscription{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "mine", Generation: 1}, Spec: &v1alpha1.SubscriptionSpec{Package: "kite"},
		Status: v1alpha1.SubscriptionStatus{ObservedGeneration: 1, Conditions: []v1alpha1.SubscriptionCondition{
			{Type: "Ready", Status: corev1.ConditionFalse, Reason: "ResolutionFailed", Message: "nothing fits: fairlead why-not '<b>kite@2.0.0' -n ops"}}}}
	v := newTour(t, nil, sub, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}})
	for _, address := range []string{"/installed?namespace=ops", "/operator/Subscription/ops/mine"} {
		found := map[string]bool{}
		page := v.shows(http.StatusOK, address)
		for _, a := range page.all("a", "") {
			found[attribute(a, "href")] = true
		}
		must.Equal(t, address, found["/why?kind=why-not&name=%3Cb%3Ekite&namespace=ops&version=2.0.0"], true)
		must.Lack(t, address, strings.Join(hrefs(found), "\n"), "<b>")
	}
}

func hrefs(of map[string]bool) (all []string) {
	for href := range of {
		all = append(all, href)
	}
	return all
}
