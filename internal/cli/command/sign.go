package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fairlead.dev/fairlead/internal/content/image"
	"fairlead.dev/fairlead/internal/content/signature"
)

// Help is the part of help texts about signing.
const Help = `With --sign-key the image is signed, so that those who require a signature can pull it: with a key of cosign or one of OpenSSL. The
password of an encrypted key is $COSIGN_PASSWORD, or is read from standard input. The signature is stored in the registry beside the
image as cosign stores it, both under a tag and as a sigstore bundle; no transparency log is written to.`

// passwordVariable is that of cosign.
const passwordVariable = "COSIGN_PASSWORD"

// Flags are those of a command that pushes an image.
type Flags struct {
	// File has the private key; empty for no signature.
	File string
}

// Add adds the flags to a command.
func (f *Flags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.File, "sign-key", "", "sign the image with the private key in this file, as cosign does")
}

// Signer signs images. A nil Signer signs nothing.
type Signer struct{ key *signature.Key }

// Read reads the key, before anything is pushed. It returns nil when none is given.
func (f *Flags) Read(s Streams) (*Signer, error) {
	if f.File == "" {
		return nil, nil
	}
	data, err := os.ReadFile(f.File)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	key, err := signature.ParseKey(data, func() ([]byte, error) {
		if text, ok := os.LookupEnv(passwordVariable); ok {
			return []byte(text), nil
		}
		if file, ok := s.In.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
			fmt.Fprint(s.Err, "password of the signing key: ")
			secret, err := term.ReadPassword(int(file.Fd()))
			fmt.Fprintln(s.Err)
			return secret, err
		}
		if s.In == nil {
			return nil, errors.New("it is encrypted; set " + passwordVariable)
		}
		line, err := bufio.NewReader(s.In).ReadString('\n')
		if line == "" && err != nil {
			return nil, fmt.Errorf("it is encrypted, and no password can be read from standard input (%w); set %s", err, passwordVariable)
		}
		return []byte(strings.TrimRight(line, "\r\n")), nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the signing key %s: %w", f.File, err)
	}
	return &Signer{key}, nil
}

// Sign signs an image by its reference with digest.
func (s *Signer) Sign(ctx context.Context, pinned string) error {
	if s == nil {
		return nil
	}
	repository, digest, ok := strings.Cut(pinned, "@")
	if !ok {
		return fmt.Errorf("sign %s: it has no digest", pinned)
	}
	if err := signature.Sign(ctx, repository, digest, s.key, image.PushOptions{}); err != nil {
		return fmt.Errorf("the image was pushed, but not signed: %w; push it again to sign it", err)
	}
	return nil
}
