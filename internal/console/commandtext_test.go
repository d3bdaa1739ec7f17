package console

import (
	"net/http/httptest"
	"strings"
	"testing"

	"fairlead.dev/fairlead/internal/ops/preview"
	"fairlead.dev/fairlead/test/must"

	"golang.org/x/net/html"
)

// TestSpans: commands and flags within a text are code, and nothing else of it is; all of the text is there.
func TestSpans(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, "nothing to type": nil, "a -- b": nil, "fairlead is an OLM": nil, "run fairlead": nil,
		"the upgrade waits until the added permissions are accepted: fairlead upgrade mine --acknowledge-permissions abc":   {"fairlead upgrade mine --acknowledge-permissions abc"},
		"put it back, or, to have a version with new content without a plan, fairlead upgrade mine --version 2.0.0":         {"fairlead upgrade mine --version 2.0.0"},
		"read it; name its content with --catalog olm/a=DIR|IMAGE, or ask someone who may read it":                          {"--catalog olm/a=DIR|IMAGE"},
		"see it with: kubectl -n a get pods; change it with: fairlead upgrade 'a b' -n c; or (fairlead list -A lists them)": {"kubectl -n a get pods", "fairlead upgrade 'a b' -n c", "fairlead list -A"},
		"to have it: fairlead install x -n y --version ''":                                                                  {"fairlead install x -n y --version ''"},
		"what serves it: `kubectl get apiservices` shows which":                                                             {"kubectl get apiservices"},
		"waits for approval: fairlead approve gr -n nsb\nit is <b>":                                                         {"fairlead approve gr -n nsb\nit"},
	} {
		var all string
		var code []string
		for _, s := range spans(text) {
			if all += s.Text; s.Code {
				code = append(code, s.Text)
			}
		}
		must.Equal(t, "the whole text", all, text)
		if !strings.Contains(text, "\n") { // templates give it one line at a time
			must.Equal(t, "what is code in: "+text, code, want)
		}
	}
}

// TestCommandsInPlansAreCode: whatever a plan says, on the pages that show plans the commands and flags in it are code, and the text is otherwise the same.
func TestCommandsInPlansAreCode(t *testing.T) {
	v := newTour(t, nil)
	const said = "it waits <b>: fairlead upgrade mine --acknowledge-permissions abc; or name its content with --catalog olm/a=DIR|IMAGE"
	misfits := []preview.Misfit{{Operator: "x", Reason: said, Advice: said}}
	change := &preview.OperatorChange{Blocked: []string{said}, Notes: []string{said}}
	subscription := &preview.SubscriptionPlan{Problem: said, HeldBy: said, Notes: []string{said}, Misfits: misfits, Operators: []*preview.OperatorChange{change}}
	extension := &preview.ExtensionPlan{Blocked: []string{said}, Notes: []string{said}}
	may := Right{Allowed: true}
	for name, data := range map[string]any{
		"install of a Subscription":     &installPage{Order: order{API: apiV0}, Plan: &planned{Subscription: subscription, Obstacle: said, Unplanned: said, Refused: said, Notes: []string{said}, May: may}},
		"error of the cluster":          failure{Text: said, Remedy: said, Docs: "install"},
		"install of a ClusterExtension": &installPage{Order: order{API: apiV1}, Plan: &planned{Extension: extension, May: may}},
		"upgrade of a Subscription":     &upgradePage{At: "/x", Planned: true, Right: may, upgradePlan: upgradePlan{Subscription: subscription}, Notes: []string{said}},
		"upgrade of a ClusterExtension": &upgradePage{At: "/x", Planned: true, Right: may, upgradePlan: upgradePlan{Extension: extension}},
	} {
		template, _, _ := strings.Cut(name, " ")
		w := httptest.NewRecorder()
		must.NoError(t, v.console.pages.write(w, template, shown{Data: data}))
		page := shopPage{t: t, root: must.Value(html.Parse(w.Body))(t)}
		must.Contain(t, name, page.says(), "it waits <b>: fairlead upgrade mine --acknowledge-permissions abc ; or name its content with --catalog olm/a=DIR|IMAGE")
		must.Lack(t, name, page.prose(), lineWords...)
	}
}
