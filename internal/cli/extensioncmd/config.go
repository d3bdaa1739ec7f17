package extensioncmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"fairlead.dev/fairlead/catalog"
)

// maxConfig bounds what is read of a configuration, in bytes; the API server takes no object that is larger.
const maxConfig = 1 << 20

// readConfig reads the configuration of an operator from a file; - is standard input.
func readConfig(in io.Reader, file string) (map[string]any, error) {
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
		defer opened.Close()
		in = opened
	}
	text, err := io.ReadAll(io.LimitReader(in, maxConfig+1))
	if err == nil && len(text) > maxConfig {
		err = errors.New("it is larger than 1 MiB, which is more than the API server takes")
	}
	var config map[string]any
	if err == nil {
		text, err = catalog.ToJSON(text)
	}
	if err == nil {
		err = json.Unmarshal(text, &config)
	}
	if err != nil {
		return nil, fmt.Errorf("read the configuration from %s: %w; write an object, with the fields that the bundle takes", file, err)
	}
	return config, nil
}
