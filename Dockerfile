# Two images. What is installed is listed in pyproject.toml and constraints.txt, not here.
#   docker build .                      for JupyterHub: the notebooks run, git pulls them
#   docker build --target developer .   what .devcontainer opens; `make env` brings the rest
FROM python:3.11-slim AS developer

RUN apt-get update \
    && apt-get install --yes --no-install-recommends git make \
    && rm -rf /var/lib/apt/lists/*

# The name, number and folder that JupyterHub on Kubernetes expects.
RUN useradd --uid 1000 --gid users --create-home --shell /bin/bash jovyan
USER jovyan
WORKDIR /home/jovyan

FROM developer AS hub

# Name the version of your hub: the two should agree (--build-arg JUPYTERHUB=...).
ARG JUPYTERHUB=6.1.1
ARG NBGITPULLER=1.3.0

USER root
WORKDIR /srv/course
COPY pyproject.toml constraints.txt README.md LICENSE LICENSE-text ./
COPY solutions solutions
COPY autograder autograder
COPY book/figures book/figures
COPY book/data book/data
RUN pip install --no-cache-dir --constraint constraints.txt \
    . jupyterlab "jupyterhub==${JUPYTERHUB}" "nbgitpuller==${NBGITPULLER}"

USER jovyan
WORKDIR /home/jovyan
EXPOSE 8888
CMD ["jupyterhub-singleuser"]
