# Three servers on one database, as a Nomad job. The database's address is in Nomad's variables:
#   nomad var put nomad/jobs/hornbook database=postgres://hornbook:PASSWORD@HOST/hornbook
job "hornbook" {
  type = "service"

  update {
    max_parallel     = 1
    health_check     = "checks"
    min_healthy_time = "10s"
    auto_revert      = true
  }

  group "servers" {
    count = 3

    constraint {
      distinct_hosts = true
    }

    # The snapshots, the mark and state.key of each server.
    volume "data" {
      type   = "host"
      source = "hornbook"
    }

    network {
      port "http" {
        to = 8080
      }
    }

    service {
      name     = "hornbook"
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = "/readyz"
        interval = "2s"
        timeout  = "2s"
      }
    }

    task "server" {
      driver         = "docker"
      kill_signal    = "SIGTERM"
      kill_timeout   = "40s"
      shutdown_delay = "5s"

      config {
        image           = "registry.example/hornbook:latest"
        ports           = ["http"]
        readonly_rootfs = true
        cap_drop        = ["all"]
      }

      volume_mount {
        volume      = "data"
        destination = "/var/lib/hornbook"
      }

      template {
        destination = "secrets/database.env"
        env         = true
        data        = "HORNBOOK_STATE_BACKEND={{ with nomadVar \"nomad/jobs/hornbook\" }}{{ .database }}{{ end }}"
      }

      env {
        HORNBOOK_SERVER_BASE_URL = "https://law.example"
        HORNBOOK_SERVER_PROXIES  = "10.0.0.0/8"
      }

      resources {
        cpu    = 2000
        memory = 1024
      }
    }
  }
}
