package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"fairlead.dev/fairlead/internal/cli/command"
	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
	"fairlead.dev/fairlead/internal/ops/preview"
)

// verifying is what verify is asked.
type verifying struct {
	streams        command.Streams
	format         command.Output
	policy         signature.Flags
	registriesConf string
	catalog        string
}

// verdict is the result of verify for programs.
type verdict struct {
	Reference    string              `json:"reference"`
	Verified     bool                `json:"verified"`
	Verification *image.Verification `json:"verification,omitempty"`
	// Reason and Advice say why the image may not be used, and what to do.
	Reason string `json:"reason,omitempty"`
	Advice string `json:"advice,omitempty"`
}

// New is the command `verify`.
func New(s command.Streams) *cobra.Command {
	v := verifying{streams: s}
	cmd := &cobra.Command{
		Use:   "verify REF --signature-policy FILE",
		Short: "Report who signed an image, and whether a signature policy accepts it",
		Long: `Report who signed an image, and whether a signature policy accepts it: the decision that the manager makes with the same policy before
it uses the image of a catalog or a bundle. The content of the image is not read.

A bundle that a signed catalog names by digest needs no signature of its own, unless a rule asks for it. With --catalog that is taken into
account: the catalog is verified, and that it names the bundle is taken for granted.

Credentials, mirrors and certificates of registries are those of container tools on this machine.

Exit code 0: the policy accepts the image. 3: it does not. 1: that could not be decided, or there is no policy. 2: wrong usage.`,
		Example: `  fairlead verify quay.io/org/my-catalog:latest --signature-policy policy.yaml
  fairlead verify quay.io/org/my-bundle@sha256:... --catalog quay.io/org/my-catalog:latest --signature-policy policy.yaml -o json`,
		Args: command.Usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return v.run(cmd.Context(), args[0]) },
	}
	v.format.Flag(cmd)
	v.policy.Add(cmd.Flags())
	cmd.Flags().StringVar(&v.registriesConf, "registries-conf", "", "registries.conf with mirrors of registries (default: that of the machine)")
	cmd.Flags().StringVar(&v.catalog, "catalog", "", "catalog that names the image: "+preview.CatalogImageGrammar)
	return cmd
}

func (v *verifying) run(ctx context.Context, ref string) (err error) {
	if err := v.format.Check(); err != nil {
		return err
	}
	verifier := signature.New(v.policy.Config())
	if !verifier.Configured() {
		return fmt.Errorf("verify image %s: there is no policy; name a file with --signature-policy", ref)
	}
	dir, err := os.MkdirTemp("", "fairlead-verify-")
	if err != nil {
		return fmt.Errorf("verify image %s: %w", ref, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := image.Open(dir, image.Config{Verifier: verifier, RegistriesConf: v.registriesConf})
	if err != nil {
		return fmt.Errorf("verify image %s: %w", ref, err)
	}
	o := image.VerifyOptions{}
	if v.catalog != "" {
		if v.catalog, err = preview.ParseCatalogImage(v.catalog); err != nil {
			return command.UsageError{Err: err}
		}
		digest, err := store.Digest(ctx, v.catalog, image.Auth{})
		if err != nil {
			return err
		}
		o.NamedBy = &image.Origin{Ref: v.catalog, Digest: digest}
	}
	found, err := store.Verify(ctx, ref, o)
	return v.report(ref, found, err)
}

func (v *verifying) report(ref string, found *image.Verification, err error) error {
	if err == nil && found == nil { // a policy.json that is read only where it exists
		return fmt.Errorf("verify image %s: the policy was removed while the image was verified; put it back, or name another one with --signature-policy", ref)
	}
	result := verdict{Reference: ref, Verified: err == nil, Verification: found}
	var refused *image.Error
	if errors.As(err, &refused) && refused.Kind == image.Unverified {
		result.Reason, result.Advice = refused.Reason, refused.Advice
	} else if err != nil {
		return err
	}
	if err := v.format.Write(v.streams.Out, result, result.write); err != nil {
		return err
	}
	if !result.Verified {
		return command.ExitError{Code: command.ExitNo}
	}
	return nil
}

func (r verdict) write(w io.Writer) error {
	if !r.Verified {
		_, err := fmt.Fprintf(w, "%s is not accepted: %s\nwhat to do: %s\n", r.Reference, r.Reason, r.Advice)
		return err
	}
	found := r.Verification
	text := fmt.Sprintf("%s at %s is %s\n", r.Reference, found.Digest, found)
	for _, s := range found.Signers {
		text += fmt.Sprintf("  found as a %s at %s\n", s.Layout, s.Host)
	}
	for _, rule := range found.Rules {
		text += fmt.Sprintf("  decided by %s\n", rule)
	}
	_, err := io.WriteString(w, text)
	return err
}
