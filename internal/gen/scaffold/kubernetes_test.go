package scaffold

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// The Deployment of deploy/kubernetes asks for paths and a port that the program of init serves,
// and sets the variables that it requires.
func TestDeploymentFitsTheMain(t *testing.T) {
	source, err := os.ReadFile("../../../deploy/kubernetes/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type probe struct {
		HTTPGet struct{ Path, Port string } `yaml:"httpGet"`
	}
	var d struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Env   []struct{ Name string }
						Ports []struct {
							Name          string
							ContainerPort int `yaml:"containerPort"`
						}
						LivenessProbe  probe `yaml:"livenessProbe"`
						ReadinessProbe probe `yaml:"readinessProbe"`
					}
				}
			}
		}
	}
	if err := yaml.Unmarshal(source, &d); err != nil {
		t.Fatal(err)
	}
	c := d.Spec.Template.Spec.Containers[0]
	program := render(t)(Main(service(true), "example.com/orders", "franz"))
	set := map[string]bool{}
	for _, variable := range c.Env {
		set[variable.Name] = true
	}
	for _, line := range strings.Split(program, "\n") {
		if _, after, is := strings.Cut(line, `errors.New("`); is {
			if name, _, is := strings.Cut(after, ` is not set"`); is && !set[name] {
				t.Errorf("the Deployment does not set %s", name)
			}
		}
	}
	for _, p := range []probe{c.LivenessProbe, c.ReadinessProbe} {
		if p.HTTPGet.Port != c.Ports[0].Name || p.HTTPGet.Path == "" || !strings.Contains(program, `"GET `+p.HTTPGet.Path+`"`) {
			t.Errorf("the program does not serve %+v", p)
		}
	}
	if want := fmt.Sprintf(`cmp.Or(os.Getenv("HTTP_ADDR"), ":%d")`, c.Ports[0].ContainerPort); !strings.Contains(program, want) {
		t.Errorf("the program has no %s", want)
	}
}
