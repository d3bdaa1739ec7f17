package preview

import (
	"strings"

	"fairlead.dev/fairlead/api/operators/v1alpha1"
	"fairlead.dev/fairlead/bundle"
)

// What a message of a plan begins with, and between what it names.
const (
	retrying = "retrying execution due to error: "
	waiting  = "waiting: "
	caution  = v1alpha1.ApproveWithCare
	between  = "; "
)

// reasons are the parts of the message of a plan that are about its steps, by their numbers, and what the message says of them: what they wait for
// (waiting), what has to be known before approval (caution), or why they fail (empty). A plan has one message for all its steps; each part begins with
// the object that it is about, after what was attempted on it.
func reasons(p *v1alpha1.InstallPlan) (about map[int]string, mood string) {
	text := strings.TrimPrefix(p.Status.Message, retrying)
	for _, prefix := range []string{waiting, caution} {
		if rest, found := strings.CutPrefix(text, prefix); found {
			text, mood = rest, prefix
		}
	}
	about = map[int]string{}
	current := -1
	for _, part := range strings.Split(text, between) {
		// The step whose object a text names first; -1 is none.
		first, at := -1, len(part)
		for i, s := range p.Status.Plan {
			if s == nil || isDone(s.Status) {
				continue
			}
			kind := s.Resource.Kind
			if kind == bundle.BundleSecretStepKind {
				kind = "Secret"
			}
			for _, name := range []string{s.Resource.Name, p.Namespace + "/" + s.Resource.Name} {
				if found := mention(part, kind+" "+name); found >= 0 && found < at {
					first, at = i, found
				}
			}
		}
		if i := first; i >= 0 {
			current = i
		}
		switch {
		case current < 0:
		case about[current] == "":
			about[current] = part
		default:
			about[current] += between + part
		}
	}
	return about, mood
}

// mention is where a text names an object, and not one whose name only begins like it; -1 is nowhere.
func mention(text, object string) int {
	for from := 0; ; {
		i := strings.Index(text[from:], object)
		if i < 0 {
			return -1
		}
		end := from + i + len(object)
		if end == len(text) || strings.ContainsRune(" :,()", rune(text[end])) {
			return from + i
		}
		from = end
	}
}

// isDone tells whether nothing is left to do for a step.
func isDone(s v1alpha1.StepStatus) bool {
	return s == v1alpha1.StepStatusCreated || s == v1alpha1.StepStatusPresent || s == v1alpha1.StepStatusNotCreated
}
