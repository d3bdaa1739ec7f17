package extensionplan

import (
	"context"

	"fairlead.dev/fairlead/internal/rollout/crd"
	"fairlead.dev/fairlead/internal/rollout/revision"
)

// dropped are the definitions that would be deleted with their custom resources. Those without any are just among what is removed.
func (p *Plan) dropped(ctx context.Context, judge revision.Preflight, step revision.Change) error {
	findings, err := judge.Dropped(ctx, step)
	if err != nil && len(findings) == 0 {
		return err
	}
	for _, f := range findings {
		verdict := CRD{Name: f.CRD, Verdict: Unsafe, Findings: []string{f.String()}}
		if len(crd.Blocking([]crd.Finding{f})) == 0 {
			verdict.Verdict = Unchecked
		}
		p.CRDs = append(p.CRDs, verdict)
	}
	p.refuse(revision.DroppedError(findings))
	p.refuse(err) // the annotation with exemptions is wrong
	return nil
}
