/// The page at the address of the site itself, which leads to the landing page; also below a path and from a file.
public let rootPage = """
  <!doctype html>
  <html lang="en">
  <meta charset="utf-8">
  <title>Vesta</title>
  <meta http-equiv="refresh" content="0; url=documentation/">
  <a href="documentation/">Documentation</a>
  </html>

  """
