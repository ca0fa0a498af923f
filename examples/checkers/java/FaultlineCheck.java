// FaultlineCheck.java: a checker in Java that stays, for `faultline explore --check-loop`.
// Copy this file beside your checker. It needs Java 11 or newer and nothing else.
//
//   FaultlineCheck.loop((directory, output) -> {   // the crash state, and what was acknowledged
//     return null;                                 // or the reason why the state is not fine
//   });
//
// Throw FaultlineCheck.Noticed when the program says itself that its files are damaged. Any other
// exception means that the state is broken. What a judge opens it closes: the next state comes into
// the same directory. Java cannot change its working directory: use paths below `directory`.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

public final class FaultlineCheck {
  /** Says whether a state is fine. */
  public interface Judge {
    /** Returns null if it is, or the reason if it is not. */
    String judge(Path directory, Path output) throws Exception;
  }

  /** The program has noticed the damage. */
  public static final class Noticed extends Exception {
    public Noticed(String words) {
      super(words);
    }
  }

  /** What a checker that is started for each state would find in its environment. */
  public static final Map<String, String> environment = new HashMap<>();

  /** Answers each request on standard input until there are no more. */
  public static void loop(Judge judge) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err); // What a judge prints is no answer.
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Map<String, String> request = new Strings(line).pairs();
      environment.putAll(request);
      String answer;
      try {
        String reason = judge.judge(Path.of(request.get("directory")), Path.of(request.get("output")));
        answer = reason == null ? "held" : "broken " + reason;
      } catch (Noticed notice) {
        answer = "noticed " + notice.getMessage();
      } catch (Throwable error) {
        error.printStackTrace();
        answer = "broken " + error;
      }
      answers.println(answer.replaceAll("\\s+", " ").trim());
      answers.flush();
    }
  }

  /** The strings of a line of JSON whose values are strings, or objects of strings. */
  private static final class Strings {
    private final String text;
    private int at = 0;

    Strings(String text) {
      this.text = text;
    }

    Map<String, String> pairs() {
      Map<String, String> pairs = new HashMap<>();
      String name = null;
      while (at < text.length()) {
        char next = text.charAt(at);
        if (next == '"') {
          String string = string();
          if (name == null) {
            name = string;
          } else {
            pairs.put(name, string);
            name = null;
          }
          continue;
        }
        if (next == '{') name = null;
        at++;
      }
      return pairs;
    }

    private String string() {
      StringBuilder string = new StringBuilder();
      for (at++; text.charAt(at) != '"'; at++) {
        char next = text.charAt(at);
        if (next != '\\') {
          string.append(next);
          continue;
        }
        char escaped = text.charAt(++at);
        if (escaped == 'u') {
          string.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
          at += 4;
        } else {
          string.append(
              escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped == 'r' ? '\r' : escaped);
        }
      }
      at++;
      return string.toString();
    }
  }
}
