"""What the operator of a server needs: backups, the doctor, figures for its metrics."""
