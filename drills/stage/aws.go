package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/drills/aws"
	"handrail/drills/bucket"
	"handrail/drills/lab"
	"handrail/drills/lab/mariadb"
)

func (st *Stage) awsDir() string { return filepath.Join(st.Home, "aws") }

// ServeAWS starts the stand-in for AWS in a session of its own, with an access key for the operator.
func (st *Stage) ServeAWS(ctx context.Context, world []byte) error {
	if len(st.AWS) == 0 {
		return errors.New("nothing says how the cloud of a drill is served")
	}
	if _, err := aws.Prepare(st.awsDir(), world, NameOperator); err != nil {
		return err
	}
	addr := ""
	if err := st.serve(ctx, "aws", append(slices.Clone(st.AWS), st.awsDir()), []string{"HOME=" + st.Home, "PATH=" + os.Getenv("PATH")}, func() (err error) {
		addr, err = bucket.AddressIn(st.awsDir())
		return err
	}); err != nil {
		return err
	}
	w, err := aws.ReadWorld(world)
	if err != nil {
		return err
	}
	st.Rec.AWS, st.Rec.Region = "http://"+addr, w.Region
	return st.Save()
}

// HealAWS repairs the replication of an instance, as its owner does.
func (st *Stage) HealAWS(instance string) error {
	return st.changeAWS(instance, func(i *aws.Instance, _ []aws.Metric) { i.Error = "" })
}

// ConnectAWS connects to an instance, as a reader does.
func (st *Stage) ConnectAWS(instance string) error {
	return st.changeAWS(instance, func(i *aws.Instance, metrics []aws.Metric) {
		for n := range metrics {
			if metrics[n].Instance == i.ID && metrics[n].Metric == "DatabaseConnections" {
				metrics[n].High = 1
			}
		}
	})
}

func (st *Stage) changeAWS(instance string, change func(*aws.Instance, []aws.Metric)) error {
	return aws.Change(st.awsDir(), func(w *aws.World) error {
		i := slices.IndexFunc(w.Instances, func(i aws.Instance) bool { return i.ID == instance })
		if i < 0 {
			return fmt.Errorf("the cloud of the drill has no instance %s", instance)
		}
		change(&w.Instances[i], w.Metrics)
		return nil
	})
}

// AWSWrites are the requests of the operator that may have written, nothing where there is no cloud.
func (st *Stage) AWSWrites() ([]aws.Write, error) {
	if st.Rec.AWS == "" {
		return nil, nil
	}
	all, err := aws.Writes(st.awsDir())
	return slices.DeleteFunc(all, func(w aws.Write) bool { return w.Who != NameOperator }), err
}

// awsEnviron is by what the operator asks the stand-in for AWS, nothing where there is none.
func (st *Stage) awsEnviron() []string {
	if st.Rec.AWS == "" {
		return nil
	}
	id, secret, err := aws.Key(st.awsDir(), NameOperator)
	if err != nil {
		return nil // then it refuses, and says so
	}
	return []string{"AWS_ENDPOINT_URL=" + st.Rec.AWS, "AWS_ACCESS_KEY_ID=" + id, "AWS_SECRET_ACCESS_KEY=" + secret, "AWS_REGION=" + st.Rec.Region, "AWS_EC2_METADATA_DISABLED=true"}
}

// AWSSecrets are the secret keys of the stand-in for AWS, nothing where there is none.
func (st *Stage) AWSSecrets() ([]string, error) {
	if st.Rec.AWS == "" {
		return nil, nil
	}
	_, secret, err := aws.Key(st.awsDir(), NameOperator)
	return []string{secret}, err
}

// PlacesDir is where the files lie that could name a server, each below its place.
func (st *Stage) PlacesDir() string { return filepath.Join(st.Home, "places") }

// ReplicaLog is the error log of the real replica of a drill that has one.
func (st *Stage) ReplicaLog() string { return filepath.Join(st.Home, "replica.log") }

// BreakReplica runs a real primary of MariaDB and a replica, changes the format of the log of the primary, lets the replica try so
// often, and keeps its error log. The two end with it: the log is what the drill needs of them.
func (st *Stage) BreakReplica(ctx context.Context, tries int) (err error) {
	if st.World == nil {
		return errors.New("this drill has no lab")
	}
	pair, err := mariadb.Start(ctx, lab.Options{Source: st.Source}, filepath.Join(st.Home, "pair"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pair.Close()) }()
	if err := pair.Break(ctx, mariadb.ToRow); err != nil {
		return err
	}
	for range tries {
		if err := pair.Retry(ctx, mariadb.ToRow); err != nil {
			return err
		}
	}
	raw, err := os.ReadFile(pair.Replica.ErrorLog())
	if err != nil {
		return err
	}
	// Where it stands on this machine is no part of what it says.
	return os.WriteFile(st.ReplicaLog(), []byte(strings.ReplaceAll(string(raw), st.Home, "/rdsdbdata")), 0o600)
}
